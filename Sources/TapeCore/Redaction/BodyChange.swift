/// How the octets of a body changed: enough to mend the fields that speak of them.
public struct BodyChange: Sendable, Hashable {
    public var oldSize: Int
    public var oldSHA256: [UInt8]
    public var newSize: Int
    public var newSHA256: [UInt8]

    public init(oldSize: Int, oldSHA256: [UInt8], newSize: Int, newSHA256: [UInt8]) {
        self.oldSize = oldSize
        self.oldSHA256 = oldSHA256
        self.newSize = newSize
        self.newSHA256 = newSHA256
    }
}
