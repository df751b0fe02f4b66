@testable internal import TapeExchange
internal import Testing

@Suite struct ConnectClientTests {
    private func step(_ answer: String, authorization: String? = nil) -> (TunnelStep, rest: String) {
        var client = ConnectClient(authority: "example.test:443", authorization: authorization)
        var input = Array(answer.utf8)[...]
        return (client.receive(&input), String(decoding: input, as: UTF8.self))
    }

    @Test func aTunnelIsAskedForWithTheProxysPassword() {
        let client = ConnectClient(authority: "example.test:443", authorization: "Basic eA==")
        #expect(
            String(decoding: client.greeting, as: UTF8.self)
                == "CONNECT example.test:443 HTTP/1.1\r\nHost: example.test:443\r\nProxy-Authorization: Basic eA==\r\n\r\n")
    }

    @Test func bytesAfterA200BelongToTheOrigin() {
        let (step, rest) = self.step("HTTP/1.0 200 Connection established\r\nVia: x\r\n\r\nhello")
        #expect(step == .open && rest == "hello")
    }

    @Test func aHeadIsReadInPieces() {
        var client = ConnectClient(authority: "h:1")
        var input = Array("HTTP/1.1 200".utf8)[...]
        #expect(client.receive(&input) == .needsMore)
        input += " OK\r\n\r\n".utf8
        #expect(client.receive(&input) == .open)
    }

    @Test func anInterimAnswerIsPassedOver() { #expect(self.step("HTTP/1.1 102 X\r\n\r\nHTTP/1.1 204 Y\r\n\r\n").0 == .open) }

    @Test func interimAnswersWithoutEndAreNoAnswer() {
        let interim = String(repeating: "HTTP/1.1 102 X\r\n\r\n", count: Limits().interimResponses)
        #expect(self.step(interim + "HTTP/1.1 204 Y\r\n\r\n").0 == .open)
        #expect(self.step(interim + "HTTP/1.1 102 X\r\n\r\n").0 == .failed(.notThisProtocol))
    }

    @Test func aRefusalNamesTheExpectedForm() {
        let wanted = "HTTP/1.1 407 X\r\nProxy-Authenticate: Negotiate\r\nProxy-Authenticate: Basic realm=\"a\"\r\n\r\n"
        #expect(self.step(wanted).0 == .failed(.needsLogin(["Negotiate", "Basic"])))
        #expect(self.step("HTTP/1.1 401 Unauthorized\r\n\r\n", authorization: "Basic eDp5").0 == .failed(.needsLogin([])))
        #expect(self.step("HTTP/1.1 401 Unauthorized\r\n\r\n").0 == .failed(.refused("401 Unauthorized")))
        #expect(self.step("HTTP/1.1 403 Forbidden\r\n\r\n").0 == .failed(.refused("403 Forbidden")))
        #expect(self.step("HTTP/1.1 503 Service Unavailable\r\n\r\n").0 == .failed(.unreachable("503 Service Unavailable")))
        #expect(self.step("HTTP/1.1 508 Loop Detected\r\n\r\n").0 == .failed(.ring))
        #expect(self.step("SSH-2.0-x\r\n").0 == .failed(.notThisProtocol))
    }
}

@Suite struct SOCKS5Tests {
    private static let login = (user: Array("me".utf8), password: Array("pw".utf8))

    /// Runs a client against a server, one byte at a time.
    private func talk(
        _ client: SOCKSClient, needsLogin: Bool = false, accepts: Bool = true, reply: SOCKS5.Reply = .granted
    ) -> (TunnelStep, SOCKSServer.Step?) {
        var (client, server) = (client, SOCKSServer(needsLogin: needsLogin))
        var (toServer, toClient): (ArraySlice<UInt8>, ArraySlice<UInt8>) = (client.greeting[...], [])
        var (fed, asked): (ArraySlice<UInt8>, SOCKSServer.Step?) = ([], nil)
        while let byte = toServer.popFirst() {
            fed.append(byte)
            switch server.receive(&fed) {
            case .needsMore: continue
            case .send(let bytes): toClient += bytes
            case .login(let user, let password):
                #expect(user == Self.login.user && password == Self.login.password)
                toClient += accepts ? server.accepted() : server.rejected()
            case .refuse(let bytes, let reason):
                asked = .refuse(bytes, reason: reason)
                toClient += bytes
            case .connect(let host, let port, let request):
                asked = .connect(host, port: port, request)
                toClient += reply.bytes
            }
            var read: ArraySlice<UInt8> = []
            while let byte = toClient.popFirst() {
                read.append(byte)
                switch client.receive(&read) {
                case .needsMore: continue
                case .send(let bytes): toServer += bytes
                case .open: return (.open, asked)
                case .failed(let problem): return (.failed(problem), asked)
                }
            }
        }
        return (.needsMore, asked)
    }

    @Test func aNameAndAddressesArriveAsTheyWereAsked() {
        let hosts: [SOCKS5.Host] = [.name("example.test"), .address([192, 0, 2, 1]), .address([UInt8](repeating: 9, count: 16))]
        for host in hosts {
            let (step, asked) = self.talk(SOCKSClient(host: host, port: 8443))
            #expect(step == .open && asked == .connect(host, port: 8443, .connect))
        }
    }

    /// Whatever address was sent, the server takes all of its bytes.
    @Test(
        arguments: [.watch, .connectIsolated(address: nil)] + [4, 16].map { .connectIsolated(address: [UInt8](repeating: 7, count: $0)) }
            as [SOCKS5.Request])
    func anIsolatingProcessSaysWhatItAsksFor(_ request: SOCKS5.Request) {
        let (step, asked) = self.talk(SOCKSClient(host: .name("a.test"), port: 8443, for: request))
        #expect(step == .open && asked == .connect(.name("a.test"), port: 8443, request))
    }

    @Test func aLoginIsAskedForAndChecked() {
        let client = SOCKSClient(host: .name("h"), port: 1, login: Self.login)
        #expect(self.talk(client, needsLogin: true).0 == .open)
        #expect(self.talk(client, needsLogin: true, accepts: false).0 == .failed(.needsLogin([])))
        #expect(self.talk(SOCKSClient(host: .name("h"), port: 1), needsLogin: true).0 == .failed(.needsLogin([])))
    }

    @Test func aRefusalKeepsItsReason() {
        #expect(self.talk(SOCKSClient(host: .name("h"), port: 1), reply: .refused).0 == .failed(.unreachable("connection refused")))
        #expect(self.talk(SOCKSClient(host: .name("h"), port: 1), reply: .notAllowed).0 == .failed(.refused("not allowed by its rules")))
    }

    @Test func aNameThatDoesNotFitIsNotSent() {
        let client = SOCKSClient(host: .name(String(repeating: "a", count: 256)), port: 1)
        #expect(self.talk(client).0 == .failed(.refused("a name of more than 255 bytes")))
    }

    @Test func otherCommandsAndAddressesAreRefused() {
        let requests: [([UInt8], SOCKS5.Reply)] = [
            ([5, 3, 0, 1, 1, 2, 3, 4, 0, 9], .unknownCommand), ([5, 1, 0, 9], .unknownAddressType),
        ]
        for (request, reply) in requests {
            var server = SOCKSServer(needsLogin: false)
            var input: ArraySlice<UInt8> = [5, 1, 0]
            #expect(server.receive(&input) == .send([5, 0]))
            input = request[...]
            var answer: [UInt8] = []
            if case .refuse(let bytes, _) = server.receive(&input) { answer = bytes }
            #expect(answer == reply.bytes)
        }
    }

    @Test func aServerOfAnotherProtocolIsNoProxy() {
        var client = SOCKSClient(host: .name("h"), port: 1)
        var input = Array("HTTP/1.1 400 X\r\n\r\n".utf8)[...]
        #expect(client.receive(&input) == .failed(.notThisProtocol))
    }
}
