internal import TapeTrust

/// `HOST=sha256/BASE64` or `HOST=FILE.pem` of the command line: what the certificate of a host must be. Does not look into the file.
struct HostPin: Hashable {
    enum Pin: Hashable {
        case publicKey(PublicKeyPin)
        case certificates(String)
    }

    var host: HostPattern
    var pin: Pin

    init(_ text: String) throws(TrustError) {
        let (host, value) = try HostPattern.assignment(text, "HOST=sha256/BASE64 or HOST=FILE.pem")
        self.host = host
        guard value.hasPrefix("sha256/") else {
            self.pin = .certificates(value)
            return
        }
        do {
            self.pin = .publicKey(try PublicKeyPin(value))
        } catch {
            throw TrustError(error.message)
        }
    }
}
