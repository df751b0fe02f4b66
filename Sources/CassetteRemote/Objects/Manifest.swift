internal import CassetteFormat
internal import TapeBytes

/// The name of an object: the SHA-256 of its bytes, in hex, and what kind it is.
package struct ObjectName: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        /// A cassette, compressed.
        case cassette = "json.zst"
        /// A body in a file, as it is.
        case body = "bin"
        /// The list of a cassette's objects.
        case manifest = "json"
    }

    package let digest: String
    package let kind: Kind

    /// Nil if the digest is not 64 lower-case hex digits.
    package init?(_ digest: String, _ kind: Kind) {
        guard Self.isDigest(digest) else { return nil }
        self.digest = digest
        self.kind = kind
    }

    /// `objects/ab/cdef….bin`, `manifests/ab/cdef….json`
    package var path: String { "\(self.folder)/\(self.digest.prefix(2))/\(self.digest.dropFirst(2)).\(self.kind.rawValue)" }

    package var folder: String { self.kind == .manifest ? "manifests" : "objects" }

    package var type: String {
        switch self.kind {
        case .cassette: "application/zstd"
        case .body: "application/octet-stream"
        case .manifest: "application/json"
        }
    }

    /// The object of a path in a store; nil for a path of anything else.
    package init?(path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let dot = parts[2].firstIndex(of: "."),
            let kind = Kind(rawValue: String(parts[2][parts[2].index(after: dot)...])),
            let name = ObjectName("\(parts[1])\(parts[2][..<dot])", kind), name.path == path
        else { return nil }
        self = name
    }

    package static func isDigest(_ text: String) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }
}

/// The list of what a cassette in a store is made of. Its own digest names the cassette: it covers every byte.
package struct Manifest: Sendable, Hashable {
    package struct File: Sendable, Hashable {
        /// Relative to the cassette's folder: `pets.bodies/5f….png`.
        package var path: String
        package var object: ObjectName
        package var size: Int
    }

    /// Of a manifest's text: about a hundred thousand files.
    package static let sizeLimit = 32 << 20
    /// The most bytes of a cassette's text that are unpacked, whatever a manifest says.
    static let cassetteLimit = 64 << 30

    /// The filename of the cassette where it was pushed.
    package var name: String
    /// The compressed cassette, and its size.
    package var cassette: ObjectName
    package var cassetteSize: Int
    /// The SHA-256 and the size of the cassette's text.
    package var textDigest: String
    package var textSize: Int
    package var exchanges: Int
    /// Sorted by path.
    package var bodies: [File]

    /// The bytes of all its objects.
    package var size: Int { self.bodies.reduce(self.cassetteSize) { $0 + $1.size } }

    /// All its objects, each once.
    package var objects: [ObjectName: Int] {
        var objects = [self.cassette: self.cassetteSize]
        for body in self.bodies { objects[body.object] = body.size }
        return objects
    }

    /// The text, which is the same for the same cassette.
    package var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject(.lines)
        writer.member("manifest")
        writer.integer(1)
        writer.member("name")
        writer.string(self.name)
        writer.member("object")
        writer.string(self.cassette.digest)
        writer.member("size")
        writer.integer(self.cassetteSize)
        writer.member("sha256")
        writer.string(self.textDigest)
        writer.member("bytes")
        writer.integer(self.textSize)
        writer.member("exchanges")
        writer.integer(self.exchanges)
        writer.member("bodies")
        writer.beginArray(.lines)
        for body in self.bodies {
            writer.element()
            writer.beginObject(.inline)
            writer.member("path")
            writer.string(body.path)
            writer.member("sha256")
            writer.string(body.object.digest)
            writer.member("size")
            writer.integer(body.size)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes + [10]
    }

    package init(
        name: String, cassette: ObjectName, cassetteSize: Int, textDigest: String, textSize: Int, exchanges: Int, bodies: [File]
    ) {
        self.name = name
        self.cassette = cassette
        self.cassetteSize = cassetteSize
        self.textDigest = textDigest
        self.textSize = textSize
        self.exchanges = exchanges
        self.bodies = bodies
    }

    /// Nil if the bytes are no manifest, or name files outside of the folders of bodies.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.sizeLimit, let root = try? JSONDocument(bytes).root, root["manifest"]?.int == 1,
            let name = root["name"]?.string, Self.isPlainName(name), name.hasSuffix(".json"),
            let cassette = root["object"]?.string.flatMap({ ObjectName($0, .cassette) }),
            let size = root["size"]?.int, (0...Payload.sizeLimit).contains(size),
            let digest = root["sha256"]?.string, ObjectName.isDigest(digest),
            let textSize = root["bytes"]?.int, (0...Self.cassetteLimit).contains(textSize), let exchanges = root["exchanges"]?.int,
            exchanges >= 0,
            let list = root["bodies"], list.kind == .array
        else { return nil }
        var bodies: [File] = []
        var last = ""
        for element in list.elements {
            guard let path = element["path"]?.string, Self.isBodyPath(path), last < path,
                let object = element["sha256"]?.string.flatMap({ ObjectName($0, .body) }),
                let size = element["size"]?.int, (0...Payload.sizeLimit).contains(size)
            else { return nil }
            last = path
            bodies.append(File(path: path, object: object, size: size))
        }
        self.init(
            name: name, cassette: cassette, cassetteSize: size, textDigest: digest, textSize: textSize, exchanges: exchanges, bodies: bodies
        )
    }

    static func isPlainName(_ name: some StringProtocol) -> Bool {
        (1...255).contains(name.utf8.count) && !name.hasPrefix(".")
            && !name.utf8.contains { $0 < 32 || $0 == 127 || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
    }

    /// `NAME.bodies/FILE`
    private static func isBodyPath(_ path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { self.isPlainName($0) } && parts[0].hasSuffix(".bodies")
    }
}
