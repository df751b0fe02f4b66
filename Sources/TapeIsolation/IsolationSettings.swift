/// How a program is isolated.
package struct IsolationSettings: Sendable, Hashable {
    /// A server that isolated programs may talk to in any protocol.
    package struct Passage: Sendable, Hashable {
        /// In lower case, without brackets and without the root's dot.
        package let host: String
        package var port: UInt16

        package init(host: String, port: UInt16) {
            self.host = IsolationLog.plain(host)
            self.port = port
        }
    }

    /// Ports of this machine that lead to the proxy if no server inside listens on them.
    package var reach: Set<UInt16> = []
    package var passages: Set<Passage> = []
    /// The names in the hosts file inside, in lower case, with their addresses, all of loopback.
    package var hosts: [String: [String]] = [:]
    /// The machine's own names, in lower case, if they have other addresses than loopback's. A server of the program's own comes first there,
    /// too.
    package var ownNames: Set<String> = []
    /// The resolver hands out the real addresses of names.
    package var usesRealAddresses = false
    /// Every connection is refused and listed.
    package var refusesConnections = false
    /// Whether connections may leave the machine at all.
    package var mayForward = true

    package init() {}

    /// The ports on which the client of a protocol waits for the server to speak, so that nothing tells it from an idle client of HTTP, and
    /// ports of protocols that are not HTTP even inside TLS: FTP, SSH, SMTP, POP3, IMAP, submission, DNS over TLS, MySQL.
    package static let speaksFirst: Set<UInt16> = [21, 22, 25, 110, 143, 465, 587, 853, 993, 995, 3306]

    /// Ports on which clients of HTTP keep spare connections without sending anything.
    package static let mayBeSilent: Set<UInt16> = [80, 443]
}
