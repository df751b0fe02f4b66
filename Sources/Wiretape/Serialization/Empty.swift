/// Nothing: what a response is decoded as that has no body, or one that does not matter.
public struct Empty: Codable, Sendable, Hashable, EmptyResponse {
    public static let value = Empty()

    public init() {}

    public static func emptyValue() -> Empty { self.value }
}
