/// A file beside the cassette that holds a body, named by its content.
public struct Sidecar: Sendable, Hashable {
    /// Relative to the cassette's folder, as `pets.bodies/5f2c81ab….jpg`; never leaves that folder.
    public var path: String
    public var size: Int
    /// SHA-256 of the file in lower-case hex.
    public var sha256: String

    public init(path: String, size: Int, sha256: String) {
        self.path = path
        self.size = size
        self.sha256 = sha256
    }
}
