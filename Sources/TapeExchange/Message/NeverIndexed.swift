/// The fields of a head that no header table on its way may hold, by name (RFC 7541, 7.1.3).
///
/// Who can add fields to a connection, and sees how large it makes them, learns from a table whether he has guessed a value. What its sender
/// has kept out of the tables stays out on the other leg (RFC 7541, 6.2.3), and so do credentials and cookies.
public struct NeverIndexed: Sendable, Hashable {
    /// In lower case, as they came.
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
