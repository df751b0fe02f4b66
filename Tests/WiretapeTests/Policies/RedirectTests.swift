import Foundation
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct RedirectTests {
    private func redirect(_ from: String, _ to: String, method: String = "POST", keepsBody: Bool = true) throws -> HTTPSession.Redirect {
        HTTPSession.Redirect(from: try #require(URL(string: from)), to: try #require(URL(string: to)), method: method, keepsBody: keepsBody)
    }

    @Test(arguments: [
        ("http://a/x", "http://a/y", false), ("http://a/x", "http://A:80/y", false), ("https://a/", "https://a:443/", false),
        ("http://a/", "https://a/", true), ("https://a/", "http://a/", true), ("http://a/", "http://a:8080/", true),
        ("http://a/", "http://b.a/", true), ("http://a/", "http://a./", true), ("http://[::1]/", "http://[::1]:80/", false),
    ])
    func originsDifferByAnyOfThree(from: String, to: String, crosses: Bool) throws {
        #expect(try self.redirect(from, to).crossesOrigin == crosses)
    }

    private static let fields = [
        "Host: a", "authorization: Bearer t", "Cookie: c=1", "Proxy-Authorization: Basic x", "Content-Type: text/plain",
        "Content-Encoding: gzip", "Content-Length: 3", "Accept: a", "accept: b", "X-Own: 1", "Referer: https://a/secret",
    ]

    private func kept(_ redirect: HTTPSession.Redirect, url: String) throws -> [String] {
        var headers = HTTPSession.Headers()
        for line in Self.fields {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers.add(name: String(parts[0]), value: parts[1].trimmingCharacters(in: .whitespaces))
        }
        let request = TransportRequest(
            method: "POST", url: try #require(URL(string: url)), headers: headers, body: .data(Data("abc".utf8)), label: "l")
        let next = redirect.request(following: request)
        #expect(next.label == "l" && next.url == redirect.target && next.method == redirect.method)
        #expect((next.body.size == nil) == !redirect.keepsBody)
        return next.headers.map { "\($0.name): \($0.value)" }
    }

    @Test func withinAnOriginEverythingGoesAlong() throws {
        #expect(try self.kept(self.redirect("https://a/x", "https://a/y"), url: "https://a/x") == Self.fields)
    }

    @Test func acrossOriginsCredentialsStay() throws {
        let kept = try self.kept(self.redirect("https://a/x", "https://b/y"), url: "https://a/x")
        #expect(
            kept == [
                "Content-Type: text/plain", "Content-Encoding: gzip", "Content-Length: 3", "Accept: a", "accept: b", "X-Own: 1",
                "Referer: https://a/secret",
            ])
    }

    @Test func withoutABodyItsFieldsStay() throws {
        let kept = try self.kept(self.redirect("https://a/x", "https://a/y", method: "GET", keepsBody: false), url: "https://a/x")
        #expect(kept == Self.fields.filter { !$0.hasPrefix("Content-") })
    }

    @Test func aSecuredAddressIsNotToldInTheClear() throws {
        let kept = try self.kept(self.redirect("https://a/x", "http://a/y"), url: "https://a/x")
        #expect(!kept.contains { $0.hasPrefix("Referer") || $0.hasPrefix("authorization") })
    }

    @Test func aURLRequestLosesTheSame() throws {
        var request = URLRequest(url: try #require(URL(string: "https://a/x")), timeoutInterval: 7)
        request.httpMethod = "POST"
        request.httpBody = Data("abc".utf8)
        for (name, value) in [("Authorization", "t"), ("Content-Type", "text/plain"), ("Accept", "a")] {
            request.setValue(value, forHTTPHeaderField: name)
        }
        let next = try self.redirect("https://a/x", "https://b/y", method: "GET", keepsBody: false).request(following: request)
        #expect(next.url?.absoluteString == "https://b/y" && next.httpMethod == "GET" && next.timeoutInterval == 7)
        #expect(next.httpBody == nil && next.httpBodyStream == nil)
        #expect(next.allHTTPHeaderFields == ["Accept": "a"])

        let same = try self.redirect("https://a/x", "https://a/y").request(following: request)
        #expect(same.httpBody == Data("abc".utf8) && same.allHTTPHeaderFields?.count == 3)
    }
}

@Suite struct RedirectorTests {
    private func answer(of handler: any HTTPSession.RedirectHandler) async throws -> String? {
        let url = try #require(URL(string: "http://a/x"))
        let proposed = URLRequest(url: try #require(URL(string: "http://a/y")))
        return await handler.redirect(
            HTTPSession.Response(url: url, status: 302), to: proposed, for: HTTPSession.RequestContext(id: UUID()))?.url?
            .absoluteString
    }

    @Test func theThreeAnswers() async throws {
        #expect(try await self.answer(of: .follow) == "http://a/y")
        #expect(try await self.answer(of: .doNotFollow) == nil)
        let modified = try await self.answer(
            of: .modify { proposed, response, _ in
                var changed = proposed
                changed.url = proposed.url?.appending(path: "\(response.status)")
                return changed
            })
        #expect(modified == "http://a/y/302")
        #expect(try await self.answer(of: .modify { _, _, _ in nil }) == nil)
        #expect(try await self.answer(of: HTTPSession.Redirector.follow) == "http://a/y")
    }
}
