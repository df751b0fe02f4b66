internal import CassetteModel
@testable internal import TapeExchange
internal import Testing

@Suite struct HopByHopTests {
    private func request(_ wire: String) throws -> String {
        let head = try #require(try Wire.request(wire.replacing("\n", with: "\r\n"))).head
        let bytes = HopByHop.forwardedRequest(head, target: try RequestTarget(head))
        return String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")
    }

    private func response(
        _ wire: String, keeps: Bool = true, client: HTTPVersion = .http11, removesChunking: Bool = false
    ) throws -> String {
        let head = try #require(try Wire.response(wire.replacing("\n", with: "\r\n"))).head
        let bytes = HopByHop.forwardedResponse(head, keepsClient: keeps, clientVersion: client, removesChunking: removesChunking)
        return String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")
    }

    @Test func fieldsKeepOrderCaseAndDuplicates() throws {
        let wire = "POST /x HTTP/1.1\nhOST:a\nX-B:  2 \nx-a: 1\nX-B: 3\nContent-Length: 0\nEmpty:\n\n"
        #expect(try self.request(wire) == wire)
    }

    @Test func absoluteTargetBecomesAPathAndRulesTheHost() throws {
        #expect(
            try self.request("GET http://A.example:81/b?c HTTP/1.1\nAccept: x\nhost: other\nB: c\n\n")
                == "GET /b?c HTTP/1.1\nAccept: x\nhost: a.example:81\nB: c\n\n")
        #expect(try self.request("GET http://a/ HTTP/1.1\nHost: A:80\n\n") == "GET / HTTP/1.1\nHost: A:80\n\n")
        #expect(try self.request("GET http://a/ HTTP/1.0\nB: c\n\n") == "GET / HTTP/1.0\nHost: a\nB: c\n\n")
        #expect(try self.request("OPTIONS http://a HTTP/1.9\nHost: a\n\n") == "OPTIONS * HTTP/1.1\nHost: a\n\n")
        #expect(try self.request("OPTIONS * HTTP/1.1\nHost: a\n\n") == "OPTIONS * HTTP/1.1\nHost: a\n\n")
    }

    @Test func fieldsForThisConnectionAreNotForwarded() throws {
        let wire = """
            GET / HTTP/1.1
            Host: a
            Connection: close, X-Hop
            Keep-Alive: 5
            x-hop: 1
            Proxy-Connection: keep-alive
            Proxy-Authorization: Basic secret
            PROXY-AUTHENTICATE: x
            connection: Other
            Other: 2
            End: 3


            """
        #expect(try self.request(wire) == "GET / HTTP/1.1\nHost: a\nEnd: 3\n\n")
    }

    @Test func framingAndRoutingCannotBeNominatedAway() throws {
        let wire = "POST / HTTP/1.1\nHost: a\nConnection: host, content-length, transfer-encoding, connection, ,\nContent-Length: 3\n\n"
        #expect(try self.request(wire) == "POST / HTTP/1.1\nHost: a\nContent-Length: 3\n\n")
        #expect(
            try self.response(
                "HTTP/1.1 200 OK\nConnection: transfer-encoding, content-encoding\nTransfer-Encoding: chunked\nContent-Encoding: gzip\n\n")
                == "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nContent-Encoding: gzip\n\n")
    }

    @Test func equalLengthsBecomeOne() throws {
        #expect(
            try self.request("POST / HTTP/1.1\nContent-Length: 3\nA: b\nContent-Length: 3\n\n")
                == "POST / HTTP/1.1\nContent-Length: 3\nA: b\n\n")
        #expect(try self.response("HTTP/1.1 200 OK\nContent-Length: 3\nContent-Length: 3\n\n") == "HTTP/1.1 200 OK\nContent-Length: 3\n\n")
    }

    @Test func wishForTrailersIsPassedOn() throws {
        #expect(
            try self.request("GET / HTTP/1.1\nTE: trailers\nA: b\nConnection: te\n\n")
                == "GET / HTTP/1.1\nTE: trailers\nA: b\nConnection: te\n\n")
        #expect(
            try self.request("GET / HTTP/1.1\nTE: gzip;q=0.5, trailers\nA: b\n\n")
                == "GET / HTTP/1.1\nTE: trailers\nA: b\nConnection: TE\n\n")
        #expect(try self.request("GET / HTTP/1.1\nTE: gzip\nConnection: TE\n\n") == "GET / HTTP/1.1\n\n")
        #expect(try self.request("GET / HTTP/1.1\nTE: gzip\nTE: trailers\n\n") == "GET / HTTP/1.1\nTE: trailers\nConnection: TE\n\n")
        #expect(try self.request("GET / HTTP/1.0\nTE: trailers\n\n") == "GET / HTTP/1.0\n\n")
    }

    @Test func upgradePassesWhereTheConnectionNamesIt() throws {
        let asked = "GET / HTTP/1.1\nConnection: keep-alive, Upgrade\nUpgrade: websocket\nSec-WebSocket-Key: x\n\n"
        #expect(try self.request(asked) == "GET / HTTP/1.1\nConnection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Key: x\n\n")
        let plain = "GET / HTTP/1.1\nconnection:  upgrade\nUpgrade: websocket\n\n"
        #expect(try self.request(plain) == plain)
        #expect(try self.request("GET / HTTP/1.1\nUpgrade: websocket\n\n") == "GET / HTTP/1.1\n\n")
        #expect(try self.request("GET / HTTP/1.0\nConnection: Upgrade\nUpgrade: websocket\n\n") == "GET / HTTP/1.0\n\n")
        #expect(
            try self.request("GET / HTTP/1.1\nConnection: Upgrade, HTTP2-Settings\nUpgrade: h2c\nHTTP2-Settings: x\n\n")
                == "GET / HTTP/1.1\n\n")
        #expect(
            try self.request("GET / HTTP/1.1\nConnection: Upgrade\nUpgrade: websocket\nTE: trailers\n\n")
                == "GET / HTTP/1.1\nConnection: Upgrade, TE\nUpgrade: websocket\nTE: trailers\n\n")
    }

    @Test func statusLinePassesAsItIs() throws {
        for line in ["HTTP/1.1 200 OK", "HTTP/1.1 200 ", "HTTP/1.1 200", "HTTP/1.1 404 not  found ", "HTTP/1.1 999 \u{FC}"] {
            #expect(try self.response("\(line)\nA: b\n\n") == "\(line)\nA: b\n\n")
        }
    }

    @Test func responseLosesWhatTheOriginSaidToUs() throws {
        let wire =
            "HTTP/1.1 200 OK\nConnection: X-Hop\nKeep-Alive: timeout=5\nX-Hop: 1\nUpgrade: h2,h2c\nProxy-Authenticate: Basic\nEnd: 1\n\n"
        #expect(try self.response(wire) == "HTTP/1.1 200 OK\nEnd: 1\n\n")
    }

    @Test func aCloseIsTheOriginsToSay() throws {
        #expect(try self.response("HTTP/1.1 200 OK\nA: b\n\n", keeps: false) == "HTTP/1.1 200 OK\nA: b\n\n")
        #expect(try self.response("HTTP/1.1 200 OK\n\n", keeps: false, client: .http10) == "HTTP/1.1 200 OK\n\n")
        for keeps in [true, false] {
            let closing = "HTTP/1.1 200 OK\nconnection:Close\nA: b\n\n"
            #expect(try self.response(closing, keeps: keeps) == closing)
        }
        #expect(
            try self.response("HTTP/1.1 200 OK\nConnection: x\nConnection: close\n\n", keeps: false)
                == "HTTP/1.1 200 OK\nConnection: close\n\n")
    }

    @Test func aConnectionThatStaysIsTheOriginsToSayUnlessAnHTTP10ClientHasToKnow() throws {
        let staying = "HTTP/1.1 200 OK\nConnection: keep-alive\nA: b\n\n"
        #expect(try self.response(staying) == staying)
        #expect(try self.response(staying, keeps: false) == "HTTP/1.1 200 OK\nA: b\n\n")
        let old = "HTTP/1.0 200 OK\nConnection: Keep-Alive\n\n"
        #expect(try self.response(old) == old)
        #expect(try self.response("HTTP/1.1 200 OK\n\n", client: .http10) == "HTTP/1.1 200 OK\nConnection: keep-alive\n\n")
    }

    @Test func interimResponsesSayNothingOfTheConnection() throws {
        #expect(try self.response("HTTP/1.1 100 Continue\nConnection: close\n\n", keeps: false) == "HTTP/1.1 100 Continue\n\n")
        let switching = "HTTP/1.1 101 Switching\nUpgrade: websocket\nConnection: Upgrade\n\n"
        #expect(try self.response(switching) == switching)
        #expect(!HopByHop.passesInterim(to: .http10))
    }

    @Test func upgradeRequiredNamesItsProtocol() throws {
        #expect(
            try self.response("HTTP/1.1 426 X\nUpgrade: TLS/1.0\nConnection: Upgrade\n\n", keeps: false)
                == "HTTP/1.1 426 X\nUpgrade: TLS/1.0\nConnection: Upgrade\n\n")
    }

    @Test func clientOfHTTP10GetsNoChunks() throws {
        #expect(HopByHop.needsDechunking(.chunked, clientVersion: .http10))
        #expect(!HopByHop.needsDechunking(.chunked, clientVersion: .http11))
        #expect(!HopByHop.needsDechunking(.length(1), clientVersion: .http10))
        #expect(
            try self.response(
                "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nTrailer: A\nA: b\n\n", keeps: false, client: .http10, removesChunking: true)
                == "HTTP/1.1 200 OK\nA: b\n\n")
    }

    @Test func thousandsOfOptionsCostLittle() throws {
        let options = (0..<10_000).map { "x\($0)" }.joined(separator: ",")
        let wire = "GET / HTTP/1.1\nConnection: \(options)\nX9999: 1\nY: 2\n\n"
        #expect(try self.request(wire) == "GET / HTTP/1.1\nY: 2\n\n")
    }
}
