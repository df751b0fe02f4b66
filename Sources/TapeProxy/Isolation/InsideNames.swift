internal import TapeExchange
internal import TapeIsolation

extension Isolation {
    /// The head with names in place of addresses that the resolver inside has handed out: a program may look a name up itself, and ask for
    /// its address. Such an address means nothing outside, and another run may give it to another name.
    func naming(_ head: RequestHead) -> RequestHead {
        head.naming { address in self.names.isHandedOut(address) ? self.names.name(of: address) : nil }
    }
}

extension TunnelScope {
    /// The same for a tunnel of a session, in which the isolating process asks for the name of the address to which its program connected.
    func naming(_ head: RequestHead) -> RequestHead {
        guard self.isBySOCKS, IPAddress(self.origin.host) == nil else { return head }
        return head.naming { NameTable.isHandedOutByDefault($0) ? self.origin.host : nil }
    }
}

extension ClientPeer {
    /// The head of one of its requests with names in place of addresses that mean nothing outside an isolation.
    func naming(_ head: RequestHead) -> RequestHead {
        self.session.configuration.isolation?.naming(head) ?? self.scope?.naming(head) ?? head
    }
}

extension ClientPeer {
    /// The address that an isolated program asked for, to which it connected, or that it named to the proxy; nil if it asked for a name.
    func address(of request: IncomingRequest) -> IPAddress? {
        if let guest { return guest.address }
        guard self.session.configuration.isolation != nil else { return nil }
        if request.opening == .transparent { return self.localAddress }
        return ListenAddress(argument: request.head.target).flatMap { IPAddress($0.host) }
    }

    /// The same if it is a real address of the host, to which a program may prefer it. Nil for one that means nothing outside.
    func chosenAddress(of request: IncomingRequest, host: String) -> IPAddress? {
        guard IPAddress(host) == nil, let address = self.address(of: request), !address.isLoopback, !address.isUnspecified else {
            return nil
        }
        guard let isolation = self.session.configuration.isolation else {
            return NameTable.isHandedOutByDefault(address) ? nil : address
        }
        let isReal = isolation.settings.usesRealAddresses && isolation.settings.mayForward && !isolation.names.isHandedOut(address)
        return isReal ? address : nil
    }
}

extension RequestHead {
    /// - Parameter name: the name to write in place of an address; nil to leave it.
    fileprivate func naming(_ name: (IPAddress) -> String?) -> RequestHead {
        var head = self
        // A request with several of them is malformed.
        if let host = head.fields.first("host"), let named = Self.named(host, name), head.fields.values("host").count == 1 {
            head.fields = head.fields.replacing("host", with: named)
        }
        if let authority = head.authority, let named = Self.named(authority, name) { head.authority = named }
        let bytes = head.target.utf8
        // Origin-form, as nearly all are.
        guard bytes.first != UInt8(ascii: "/"), let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            head.target[colon...].hasPrefix("://")
        else { return head }
        let start = bytes.index(colon, offsetBy: 3)
        let end = bytes[start...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? bytes.endIndex
        guard let named = Self.named(head.target[start..<end], name) else { return head }
        let size = (start: bytes.distance(from: bytes.startIndex, to: start), end: bytes.distance(from: bytes.startIndex, to: end))
        head.rawTarget?.replaceSubrange(size.start..<size.end, with: named.utf8)
        head.target.replaceSubrange(start..<end, with: named)
        return head
    }

    /// An authority whose host is such an address, with the name; nil for any other.
    private static func named(_ authority: some StringProtocol, _ name: (IPAddress) -> String?) -> String? {
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
        guard port.isEmpty || port.hasPrefix(":"), let address = IPAddress(String(host)), let name = name(address) else { return nil }
        return name + port
    }
}
