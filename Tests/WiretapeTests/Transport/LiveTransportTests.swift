import ClientTestSupport
import Foundation
import TapeTestSupport
import TapeTrust
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.serialized) struct LiveTransportTests {
    private func origin(_ answers: [String: String]) throws -> LoopbackOrigin {
        try LoopbackOrigin { request in
            [.text(answers[request.target] ?? "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")]
        }
    }

    @Test func anAnswerComesWithItsFieldsAndSetCookieTakenApart() async throws {
        let origin = try self.origin([
            "/":
                "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT\r\nSet-Cookie: b=2\r\nContent-Length: 2\r\n\r\nhi"
        ])
        let log = try await LiveTransport().exchange("GET", "\(origin.url)/")
        #expect(log.lines == ["head 200", "chunk hi", "end"])
        #expect(log.head?.headers.values(for: "set-cookie") == ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "b=2"])
        #expect(log.head?.source == .live)
    }

    @Test func a401WithABasicChallengeIsAPlainAnswer() async throws {
        let origin = try self.origin([
            "/": "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 6\r\n\r\ndenied"
        ])
        let log = try await LiveTransport().exchange("GET", "\(origin.url)/")
        #expect(log.lines == ["head 401", "chunk denied", "end"])
        #expect(log.head?.headers.value(for: "WWW-Authenticate") == "Basic realm=\"x\"")
    }

    @Test func aRedirectIsNotFollowed() async throws {
        let origin = try self.origin(["/": "HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 4\r\n\r\nnext"])
        let log = try await LiveTransport().exchange("GET", "\(origin.url)/")
        #expect(log.lines == ["head 302", "chunk next", "end"])
        #expect(origin.requests.count == 1)
    }

    @Test func interimResponsesAreDistinguishedFromTheAnswer() async throws {
        let origin = try self.origin([
            "/": "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
        ])
        #expect(try await LiveTransport().exchange("GET", "\(origin.url)/").lines == ["interim 103", "head 200", "chunk hi", "end"])
    }

    @Test(arguments: [false, true]) func aBodyGoesOutAsItIs(isFile: Bool) async throws {
        let folder = try TemporaryFolder()
        let origin = try self.origin(["/": "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"])
        try folder.write(Array("hello".utf8), to: "body")
        let body: RequestBody = isFile ? .file(URL(fileURLWithPath: folder.file("body")), size: 5) : .data(Data("hello".utf8))
        let log = try await LiveTransport().exchange("POST", "\(origin.url)/", body: body, headers: [("X-A", "1")])
        #expect(log.lines.suffix(2) == ["head 201", "end"])
        #expect(log.lines.contains("sent 5 of 5"))
        let request = try #require(origin.requests.first)
        #expect(request.body == Data("hello".utf8))
        #expect(request.field("content-type") == nil)
        #expect(request.field("x-a") == "1")
        #expect(request.field("cookie") == nil)
    }

    @Test func requestThatCannotBeSentFailsAtOnce() async throws {
        let cases: [(TransportRequest, String)] = [
            (.make("POST", "http://127.0.0.1:1/", body: .file(URL(fileURLWithPath: "/no/such"), size: 1)), "failed body"),
            (.make("POST", "http://127.0.0.1:1/", body: .unobservable), "failed unsupported"),
            (.make("GET", "ftp://127.0.0.1/"), "failed unsupported"), (.make("GET", "/relative"), "failed unsupported"),
        ]
        for (request, line) in cases { #expect(await LiveTransport().exchange(request).lines == [line]) }
    }

    /// "hello" in each coding.
    private static let codedHello: [String: [UInt8]] = [
        "gzip": [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10, 0x36, 5, 0, 0, 0,
        ],
        "deflate": [0x78, 0x9C, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 6, 0x2C, 2, 0x15],
        "br": [0x0B, 2, 0x80] + Array("hello".utf8) + [3],
        "zstd": [0x28, 0xB5, 0x2F, 0xFD, 0x20, 5, 0x29, 0, 0] + Array("hello".utf8),
    ]

    @Test func requestedCodingsAreDecoded() async throws {
        let origin = try LoopbackOrigin { request in
            let coding = String(request.target.dropFirst())
            let body = Self.codedHello[coding] ?? []
            return [.text("HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(body.count)\r\n\r\n"), .send(body)]
        }
        let codings = HTTPSession.Header.defaultAcceptEncoding.value.split(separator: ",").map {
            String($0.drop { $0 == " " }.prefix { $0 != ";" })
        }
        #expect(codings.contains("gzip"))
        for coding in codings {
            let log = try await LiveTransport().exchange("GET", "\(origin.url)/\(coding)")
            #expect(log.lines == ["head 200", "chunk hello", "end"], "\(coding)")
        }
    }

    #if canImport(FoundationNetworking)
    @Test(.enabled(if: capabilities[.trailers]?.isFatal == true, "trailers end no process with this release of Swift"))
    func trailersAreNotInvitedWhereTheyEndTheProcess() async throws {
        let origin = try self.origin([:])
        for value in ["trailers", "deflate, Trailers;q=0.5"] {
            let log = try await LiveTransport().exchange("GET", "\(origin.url)/", headers: [("te", value)])
            #expect(log.lines == ["failed unsupported"])
        }
        #expect(try await LiveTransport().exchange("GET", "\(origin.url)/", headers: [("TE", "deflate")]).lines == ["head 404", "end"])
        #expect(origin.requests.count == 1)
    }
    #endif

    @Test func aCachedResponseAloneIsNotLoaded() async throws {
        let origin = try self.origin([:])
        var request = TransportRequest.make("GET", "\(origin.url)/?access_token=abc")
        request.loading.cachePolicy = .returnCacheDataDontLoad
        let log = await LiveTransport().exchange(request)
        #expect(log.lines == ["failed unsupported"])
        guard case .failed(let failure) = log.events.last else { return }
        #expect(failure.message.contains("cachePolicy") && !failure.message.contains("abc"))
        #expect(origin.requests.isEmpty)
    }

    #if canImport(FoundationNetworking)
    @Test func aClientCertificateIsRefusedWhereNoneCanBePresented() async throws {
        let origin = try self.origin([:])
        let credential = URLCredential(user: "a", password: "b", persistence: .none)
        let log = try await LiveTransport(clientCredential: credential).exchange("GET", "\(origin.url)/")
        #expect(log.lines == ["failed unsupported"])
        var configuration = HTTPSession.Configuration()
        configuration.clientCredential = credential
        let error = await HTTPSession(configuration: configuration, transport: nil).request("\(origin.url)/").serializingData().response
            .error
        #expect(error?.message.contains("client certificate") == true)
        #expect(origin.requests.isEmpty)
    }
    #endif

    @Test func failuresHaveTheirKind() async throws {
        let origin = try LoopbackOrigin { request in
            switch request.target {
            case "/cut": [.text("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .close]
            case "/reset": [.reset]
            case "/nothing": [.close]
            case _: [.text("hello\r\n\r\n"), .close]
            }
        }
        let transport = LiveTransport()
        #expect(try await transport.exchange("GET", "\(origin.url)/cut").lines == ["head 200", "chunk abc", "failed truncated"])
        #expect(try await transport.exchange("GET", "\(origin.url)/reset").lines == ["failed reset"])
        #expect(try await transport.exchange("GET", "\(origin.url)/nothing").lines == ["failed reset"])
        #expect(try await transport.exchange("GET", "\(origin.url)/garbage").lines == ["failed malformed"])
        #expect(try await transport.exchange("GET", "http://127.0.0.1:1/").lines == ["failed refused"])
    }

    @Test func oneThatHangsCanBeCancelled() async throws {
        let origin = try LoopbackOrigin { _ in [.text("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .hang] }
        let log = EventLog()
        let task = LiveTransport().start(.make("GET", "\(origin.url)/")) { log.receive($0) }
        await log.wait(for: 2)
        task.cancel()
        await log.wait()
        #expect(log.lines == ["head 200", "chunk abc", "failed cancelled"])
    }

    @Test func aPauseLosesAndRepeatsNothing() async throws {
        let size = 3 << 20
        let origin = try LoopbackOrigin { _ in
            [.text("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"), .send((0..<size).map { UInt8(truncatingIfNeeded: $0 >> 8) })]
        }
        let log = EventLog(pauses: [1, 3])
        let task = LiveTransport().start(.make("GET", "\(origin.url)/")) { log.receive($0) }
        await log.wait(for: 2)
        task.resume()
        await log.wait(for: 4)
        task.resume()
        await log.wait()
        #expect(log.lines.last == "end")
        #expect(log.body.count == size)
        #expect(log.body == Data((0..<size).map { UInt8(truncatingIfNeeded: $0 >> 8) }))
        #expect(origin.requests.count == 1)
    }

    @Test func theListOfFieldsDoesNotDependOnChance() async throws {
        let origin = try self.origin(["/": "HTTP/1.1 200 OK\r\nx-b: 2\r\nX-A: 1\r\nContent-Length: 0\r\nEtag: \"1\"\r\n\r\n"])
        let log = try await LiveTransport().exchange("GET", "\(origin.url)/")
        #expect(log.head?.headers.map { $0.name.lowercased() } == ["content-length", "etag", "x-a", "x-b"])
    }

    @Test func anUnsupportedPolicySendsNothing() async throws {
        let origin = try self.origin([:])
        let manager = try HTTPSession.ServerTrustManager(["127.0.0.1": .pinnedPublicKeys([])])
        let secure = origin.url.replacingOccurrences(of: "http:", with: "https:")
        #if canImport(FoundationNetworking)
        let log = try await LiveTransport(serverTrust: manager).exchange("GET", "\(secure)/")
        #expect(log.lines == ["failed unsupported"])
        #expect(log.failure?.cause is ServerTrustError)
        #expect(origin.requests.isEmpty)
        #endif
        let plain = try await LiveTransport(serverTrust: manager).exchange("GET", "\(origin.url)/")
        #expect(plain.lines == ["head 404", "end"])
        let unknown = try await LiveTransport(serverTrust: manager).exchange("GET", "https://localhost:1/")
        #expect(unknown.lines == ["failed unsupported"])
        #expect(unknown.failure?.message.contains("\"localhost\"") == true)
    }

    @Test func aProxyIsTakenOrRefusedWithTheWayToHaveOne() throws {
        #if canImport(FoundationNetworking)
        let failure = #expect(throws: TransportFailure.self) { _ = try LiveTransport(proxy: .init(host: "127.0.0.1", port: 8080)) }
        #expect(failure?.message.contains("http_proxy and https_proxy, in lower case, to \"http://127.0.0.1:8080\"") == true)
        #else
        _ = try LiveTransport(proxy: .init(host: "127.0.0.1", port: 8080))
        #endif
    }

    @Test func aFieldThatWouldWriteLinesIsNotSent() async throws {
        let origin = try LoopbackOrigin { _ in [.text("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")] }
        let log = try await LiveTransport().exchange(
            "GET", "http://127.0.0.1:\(origin.port)/", headers: [("X-A", "1\r\nX-Bad: 2")])
        #expect(log.lines == ["failed unsupported"])
        #expect(log.failure?.message.contains("X-A") == true)
        #expect(origin.requests.isEmpty)
    }
}
