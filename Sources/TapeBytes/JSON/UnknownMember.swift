/// An object member that this version of the format does not know, as its raw JSON text.
public struct UnknownMember: Sendable, Hashable {
    public var name: String
    /// The value's JSON text, byte for byte.
    public var json: [UInt8]

    public init(name: String, json: [UInt8]) {
        self.name = name
        self.json = json
    }
}
