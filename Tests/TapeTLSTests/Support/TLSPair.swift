@testable import TapeTLS

/// A client's and a server's end that talk to each other in memory.
final class TLSPair {
    let client: TLSEnd
    let server: TLSEnd

    init(client: TLSEnd, server: TLSEnd) {
        self.client = client
        self.server = server
    }

    /// Carries ciphertext until both have said all.
    func run() {
        self.client.receive()
        while self.carry() {}
    }

    /// One turn: what each has to say, to the other.
    ///
    /// - Returns: whether there was anything.
    func carry() -> Bool {
        let up = self.client.output()
        if !up.isEmpty { self.server.receive(up) }
        let down = self.server.output()
        if !down.isEmpty { self.client.receive(down) }
        return !up.isEmpty || !down.isEmpty
    }

    var isEstablished: Bool { self.client.isEstablished && self.server.isEstablished }
}
