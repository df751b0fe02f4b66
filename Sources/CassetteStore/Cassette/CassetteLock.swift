public import CassetteModel

/// Keeps other recorders off a cassette that is not written itself, since a new one is to take its place.
///
/// Held until it is released with its last reference. Changes nothing in the file, which need not be writable.
public final class CassetteLock: Sendable {
    /// Times that a cassette may be exchanged for another while its lock is taken.
    private static let tries = 10

    private let file: SharedFile

    /// - Throws: `inUse` where another recorder has the cassette.
    public init(_ path: String) throws(CassetteError) {
        for _ in 0..<Self.tries {
            let shared = SharedFile(try OpenFile(path, for: .read))
            try shared.file.lock()
            // Between opening and locking another recorder may have put its file in the place.
            if shared.file.isStill(at: path, followsLinks: true) {
                self.file = shared
                return
            }
        }
        throw CassetteError(.inUse, "\"\(path)\" is being replaced again and again; stop the other recorders, or choose another cassette")
    }
}
