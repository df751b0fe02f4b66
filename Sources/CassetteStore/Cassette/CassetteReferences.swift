internal import CassetteFormat
public import CassetteModel
internal import Platform
internal import TapeBytes

/// The files beside a cassette that it names, together with those that recordings kept next to it name: they share one folder.
public struct CassetteReferences: Sendable {
    /// Paths as the cassettes have them.
    public private(set) var sidecars: Set<String> = []
    public private(set) var usesRawSpool = false

    /// - Parameters:
    ///   - path: of the cassette; `pets.new.json` and its like beside `pets.json` count too.
    ///   - removed: one of them that is about to be removed.
    /// - Throws: where one of them cannot be read; then nobody knows what may go.
    public init(familyOf path: String, without removed: String? = nil) throws(CassetteError) {
        if path != removed, CassettePlace.exists(path) { try self.add(path) }
        for other in CassettePlace.sharingBodies(with: path) where other != removed { try self.add(other) }
    }

    private mutating func add(_ path: String) throws(CassetteError) {
        let reader = try CassetteReader(path: path)
        for position in 0..<reader.count {
            let bytes = try reader.bytes(at: position)
            // Neither a sidecar nor a raw slice can be there without these letters.
            guard bytes.withUnsafeBytes({ ByteSearch.contains(".bodies/", in: $0) }) else { continue }
            let interaction = try InteractionDecoder.decode(bytes)
            for body in [interaction.request.body, interaction.response?.body] { self.add(body) }
        }
    }

    private mutating func add(_ body: Body?) {
        guard let body else { return }
        if case .raw = body.content { self.usesRawSpool = true }
        self.sidecars.formUnion(body.content.sidecars.map(\.path))
        if let original = body.original { self.sidecars.insert(original.path) }
    }

    /// Removes what nobody names any more.
    ///
    /// - Returns: how many sidecars went.
    @discardableResult
    public func tidy(_ store: BodyStore) throws(CassetteError) -> Int {
        if !self.usesRawSpool { try store.removeRawSpool() }
        return try store.removeSidecars(keeping: self.sidecars)
    }
}

/// Where cassettes lie: whether one is there, and putting one into the place of another.
public enum CassettePlace {
    /// Whether there is anything of that name, a damaged file or a dangling link too.
    public static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Puts a file into the place of another in the same folder, so that a crash leaves the one or the other.
    public static func replace(_ old: String, with new: String) throws(CassetteError) {
        guard rename(new, old) == 0 else {
            throw CassetteError(
                .unwritable,
                "\"\(new)\" cannot take the place of \"\(old)\" (\(String(cString: strerror(errno)))): the recording is in \"\(new)\".")
        }
        try OpenFolder(FileLocation(old).folder).synchronize()
    }

    /// Gives a file a name in the same folder that must be free, at once or not at all.
    package static func take(_ path: String, with new: String) throws(CassetteError) {
        guard link(new, path) == 0 else {
            throw CassetteError(
                .unwritable, "\"\(path)\" cannot be made (\(String(cString: strerror(errno)))): name a file that is not there yet.")
        }
        try self.remove(new)
        try OpenFolder(FileLocation(path).folder).synchronize()
    }

    /// Lets those read a file who may read another, as far as that can be told; its owner may write it in any case.
    public static func copyMode(of model: String, to path: String) {
        var status = stat()
        guard stat(model, &status) == 0 else { return }
        chmod(path, status.st_mode & 0o777 | 0o600)
    }

    /// Takes away a cassette that never came to hold anything.
    public static func remove(_ path: String) throws(CassetteError) {
        let location = FileLocation(path)
        try OpenFolder(location.folder).remove(location.name)
    }

    /// The other cassettes that may name bodies in the folder of this one: recordings beside it that did not take its place, and the
    /// one whose name differs by `.json` alone.
    public static func sharingBodies(with path: String) -> [String] {
        let stem = path.hasSuffix(".json") ? String(path.dropLast(5)) : path
        let names = [stem, "\(stem).json"] + (1...self.freeNames).map { self.name(stem, $0) }
        return names.filter { name in
            // A folder of that name holds no bodies' names, and is no cassette.
            var status = stat()
            return name != path && stat(name, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }
    }

    private static let freeNames = 100

    private static func name(_ stem: String, _ number: Int) -> String {
        number == 1 ? "\(stem).new.json" : "\(stem).new-\(number).json"
    }

    /// A free name beside a cassette: `pets.new.json`, then `pets.new-2.json`.
    public static func freeName(beside path: String) throws(CassetteError) -> String {
        let stem = path.hasSuffix(".json") ? String(path.dropLast(5)) : path
        for number in 1...self.freeNames {
            let name = self.name(stem, number)
            if !self.exists(name) { return name }
        }
        throw CassetteError(
            .unwritable, "there are 100 recordings beside \"\(path)\" that were never taken over: look at them and remove them.")
    }
}
