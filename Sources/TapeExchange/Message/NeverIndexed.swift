/// The fields of a head that must not enter a header table on any connection, by name (RFC 7541, 7.1.3).
///
/// An attacker who can add fields to a connection and observe its size learns from a table whether a guess of a value was right. Fields
/// that the sender kept out of the tables are kept out on the other connection too (RFC 7541, 6.2.3), and so are credentials and cookies.
public struct NeverIndexed: Sendable, Hashable {
    /// In lower case, as received.
    private var names: [[UInt8]] = []

    public init() {}

    public mutating func insert(_ name: UnsafeBufferPointer<UInt8>) {
        guard !self.contains(name) else { return }
        self.names.append(Array(name))
    }

    /// - Parameter name: in lower case.
    public func contains(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        switch name.count {
        case 6: if Self.equals(name, "cookie") { return true }
        case 10: if Self.equals(name, "set-cookie") { return true }
        case 13: if Self.equals(name, "authorization") { return true }
        case 19: if Self.equals(name, "proxy-authorization") { return true }
        default: break
        }
        return self.names.contains { $0.count == name.count && $0.elementsEqual(name) }
    }

    private static func equals(_ name: UnsafeBufferPointer<UInt8>, _ other: StaticString) -> Bool {
        for index in 0..<name.count where name[index] != other.utf8Start[index] { return false }
        return true
    }
}
