@testable import TapeTLS

/// The ends of a client and a server, connected in memory.
final class TLSPair {
    let client: TLSEnd
    let server: TLSEnd

    init(client: TLSEnd, server: TLSEnd) {
        self.client = client
        self.server = server
    }

    /// Moves ciphertext until neither side has any.
    func run() {
        self.client.receive()
        while self.carry() {}
    }

    /// One turn, in which each end gets the output of the other.
    ///
    /// - Returns: whether there was any.
    func carry() -> Bool {
        let up = self.client.output()
        if !up.isEmpty { self.server.receive(up) }
        let down = self.server.output()
        if !down.isEmpty { self.client.receive(down) }
        return !up.isEmpty || !down.isEmpty
    }

    var isEstablished: Bool { self.client.isEstablished && self.server.isEstablished }
}
