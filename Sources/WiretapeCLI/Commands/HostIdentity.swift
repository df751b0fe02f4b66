internal import TapeTrust

/// `PATTERN=CERT.pem[,KEY.pem]` of the command line: the certificate with which the recorder identifies itself to hosts. Does not look
/// into the files.
struct HostIdentity: Hashable {
    var hosts: HostPattern
    var certificateFile: String
    /// That of the certificate, where one file holds both.
    var keyFile: String

    init(_ text: String) throws(TrustError) {
        let form = "PATTERN=CERT.pem or PATTERN=CERT.pem,KEY.pem"
        let (hosts, value) = try HostPattern.assignment(text, form)
        let files = value.split(separator: ",", omittingEmptySubsequences: false)
        guard files.count <= 2, files.allSatisfy({ !$0.isEmpty }) else {
            throw TrustError("\"\(value)\" is not one file or two with a comma between them: write \(form).")
        }
        self.hosts = hosts
        self.certificateFile = String(files[0])
        self.keyFile = String(files[files.count - 1])
    }
}
