internal import TapeExchange
internal import TapeIsolation

extension Isolation {
    /// The head with names in place of addresses that the resolver inside has handed out: a program may look a name up itself, and ask for
    /// its address. Such an address means nothing outside, and another run may give it to another name.
    func naming(_ head: RequestHead) -> RequestHead {
        var head = head
        // A request with several of them is malformed.
        if let host = head.fields.first("host"), let named = self.named(host), head.fields.values("host").count == 1 {
            head.fields = head.fields.replacing("host", with: named)
        }
        if let authority = head.authority, let named = self.named(authority) { head.authority = named }
        let bytes = head.target.utf8
        // Origin-form, as nearly all are.
        guard bytes.first != UInt8(ascii: "/"), let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            head.target[colon...].hasPrefix("://")
        else { return head }
        let start = bytes.index(colon, offsetBy: 3)
        let end = bytes[start...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? bytes.endIndex
        guard let named = self.named(head.target[start..<end]) else { return head }
        let size = (start: bytes.distance(from: bytes.startIndex, to: start), end: bytes.distance(from: bytes.startIndex, to: end))
        head.rawTarget?.replaceSubrange(size.start..<size.end, with: named.utf8)
        head.target.replaceSubrange(start..<end, with: named)
        return head
    }

    /// An authority, whose host is an address that was handed out, with the name of that address; nil for any other.
    private func named(_ authority: some StringProtocol) -> String? {
        var host = authority[...]
        var port: Substring = ""
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]") else { return nil }
            port = Substring(host[host.index(after: end)...])
            host = host[host.index(after: host.startIndex)..<end]
        } else if let colon = host.firstIndex(of: ":") {
            port = Substring(host[colon...])
            host = host[..<colon]
        }
        guard port.isEmpty || port.hasPrefix(":"), let address = IPAddress(String(host)), self.names.isHandedOut(address),
            let name = self.names.name(of: address)
        else { return nil }
        return name + port
    }
}
