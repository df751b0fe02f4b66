import Foundation
import Testing

@testable import Wiretape

@Suite struct RequestRedirectingTests {
    private static func transport(_ status: Int, to location: String = "/b") -> ScriptedTransport {
        ScriptedTransport { exchange, _ in
            if exchange.request.url.path == "/a" {
                exchange.answer(status, ["Location": location], "moved")
            } else {
                exchange.answer(200, [:], "there")
            }
        }
    }

    @Test(arguments: [(303, "GET", false), (307, "POST", true), (302, "GET", false)])
    func redirectsAreFollowed(status: Int, method: String, keepsBody: Bool) async throws {
        let transport = Self.transport(status)
        let session = Session.plain(transport)
        let response = await session.upload(Data("body".utf8), to: "http://a.test/a").serializingString().response
        #expect(response.value == "there")
        #expect(response.url?.path == "/b")
        #expect(response.redirects.map(\.response.status) == [status])
        #expect(response.redirects.first?.request.url.path == "/a")
        #expect(transport.requests[1].method == method)
        #expect((transport.requests[1].body.size == 4) == keepsBody)
    }

    @Test func aHandlerMayTakeTheRedirectForTheAnswer() async throws {
        let transport = Self.transport(302)
        let session = Session.plain(transport) { $0.redirectHandler = Redirector.doNotFollow }
        let response = await session.request("http://a.test/a").serializingString().response
        #expect(response.response?.status == 302)
        #expect(response.value == "moved")
        #expect(transport.requests.count == 1)
    }

    @Test func aRequestsHandlerComesBeforeTheSessions() async throws {
        let transport = Self.transport(302)
        let session = Session.plain(transport) { $0.redirectHandler = Redirector.doNotFollow }
        let elsewhere = Redirector.modify { request, _, _ in
            var request = request
            request.url = URL(string: "http://a.test/c")
            return request
        }
        _ = await session.request("http://a.test/a").redirect(using: elsewhere).serializingString().response
        #expect(transport.requests.map(\.url.path) == ["/a", "/c"])
    }

    @Test func aCircleEnds() async {
        let transport = Self.transport(302, to: "/a")
        let error = await Session.plain(transport).request("http://a.test/a").serializingData().response.error
        #expect(error?.code == .redirect)
        #expect((error?.cause as? RedirectError)?.code == .tooManyRedirects)
        #expect(transport.requests.count == 21)
    }

    @Test func whereNoRequestCanGoAHandlerCanStillTakeTheAnswer() async {
        let transport = Self.transport(302, to: "ftp://a.test/")
        let session = Session.plain(transport)
        #expect(await session.request("http://a.test/a").serializingData().response.error?.code == .redirect)
        let taken = await session.request("http://a.test/a").redirect(using: Redirector.doNotFollow).serializingString().response
        #expect(taken.value == "moved")
        let followed = await session.request("http://a.test/a").redirect(using: Redirector.follow).serializingString().response
        #expect(followed.error?.code == .redirect)
    }

    @Test func credentialsStayWithTheirOrigin() async {
        let transport = Self.transport(307, to: "http://b.test/b")
        _ = await Session.plain(transport).request("http://a.test/a", headers: ["Authorization": "secret", "X": "1"]).serializingData()
            .response
        #expect(transport.requests[1].headers == ["X": "1"])
    }

    @Test func aRedirectsBodyIsNotTheDownload() async throws {
        let session = Session.plain(Self.transport(302))
        let file = try await session.download("http://a.test/a").serializingDownloadedFileURL().value
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == Data("there".utf8))
    }
}
