internal import TapeProxy

/// The address of the authority's certificate for a phone that has no proxy yet: the URL is in the path.
struct PhoneAddress {
    /// `HOST:PORT` that the proxy listens on.
    var address: String
    /// `USER:PASSWORD`.
    var credentials: String?
    var outside = ProxyListener.outsideAddress()

    var url: String {
        let login = self.credentials.map { ProxyAddress.percentEncoded($0) + "/" } ?? ""
        return "http://\(self.reachable)/\(login)http://wiretape.test/ca.crt"
    }

    /// The same without user and password.
    var publicURL: String { "http://\(self.reachable)/http://wiretape.test/ca.crt" }

    /// The address that the phone uses as its proxy.
    var reachable: String {
        guard let outside, let listen = ListenAddress(argument: self.address), ["0.0.0.0", "::"].contains(listen.host) else {
            return self.address
        }
        return ListenAddress(host: outside, port: listen.port).description
    }
}
