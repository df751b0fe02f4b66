internal import TapeProxy

/// The page with the authority's certificate, as a phone reaches it before it has a proxy: by a URL in the path.
struct PhonePage {
    /// `HOST:PORT` that the proxy listens on.
    var address: String
    /// `USER:PASSWORD`.
    var credentials: String?
    var outside = ProxyListener.outsideAddress()

    var url: String {
        let login = self.credentials.map { ProxyAddress.percentEncoded($0) + "@/" } ?? ""
        return "http://\(self.reachable)/\(login)http://wiretape.test/"
    }

    private var reachable: String {
        guard let outside, let listen = ListenAddress(argument: self.address), ["0.0.0.0", "::"].contains(listen.host) else {
            return self.address
        }
        return ListenAddress(host: outside, port: listen.port).description
    }
}
