internal import CassetteModel
internal import CassetteStore
internal import CassetteTools
internal import LocalHTTP
internal import TapeBytes

/// A cassette as a file to keep: its text as it is, or a ZIP archive that also has its folder of bodies.
struct CassetteDownload {
    /// The size of one piece, in bytes.
    private static let piece = 256 << 10

    private let cassette: InspectedCassette
    private let name: String

    /// - Parameter name: of the file, in ASCII.
    init(_ cassette: InspectedCassette, name: String) {
        self.cassette = cassette
        self.name = name
    }

    func stream() throws -> LocalStream {
        let (path, name) = (self.cassette.path, self.name)
        let location = FileLocation(path)
        let bodies = location.sibling(location.bodiesName)
        var files: [String] = []
        if let folder = try? OpenFolder(bodies, followsLinks: false) { try folder.forEachName { files.append($0) } }
        guard !files.isEmpty else {
            var stream = try RecordedBytes.stream(BodyContents(try HeldFile(path).source()), range: nil)
            stream.head = LocalAnswer(
                status: 200, reason: "OK", fields: ["Content-Disposition: attachment; filename=\"\(name)\""], type: "application/json",
                body: [])
            return stream
        }
        files.sort()
        // In the archive, the folder has the name that belongs to the file's name.
        let folderName = FileLocation(name).bodiesName
        var zip = ZipWriter()
        var place = -1
        var isEnded = false
        let head = LocalAnswer(
            status: 200, reason: "OK", fields: ["Content-Disposition: attachment; filename=\"\(name.dropLast(5)).zip\""],
            type: "application/zip", body: [])
        return LocalStream(head: head, framing: .chunked) {
            guard !isEnded else { return nil }
            defer { place += 1 }
            if place == files.count {
                isEnded = true
                return zip.end()
            }
            let inner = place < 0 ? path : "\(bodies)/\(files[place])"
            let source = try HeldFile(inner).source()
            var bytes: [UInt8] = []
            try source.forEachPiece(while: { piece in
                bytes.append(contentsOf: piece)
                return bytes.count <= ZipWriter.sizeLimit
            })
            return try zip.add(
                place < 0 ? name : "\(folderName)/\(files[place])", bytes, isWhole: bytes.count <= ZipWriter.sizeLimit)
        }
    }
}

/// A file that stays open while its bytes are read.
private final class HeldFile {
    private let file: OpenFile

    init(_ path: String) throws { self.file = try OpenFile(path, for: .read) }

    func source() throws -> ByteSource { ByteSource(size: try self.file.size()) { try self.file.read(into: $1, at: $0) } }
}
