import Foundation
import Testing
import Wiretape

@Suite struct RedirectRuleTests {
    private func decide(
        _ status: Int, _ locations: [String], method: String = "GET", hops: Int = 0, from: String = "http://a/b?c", limit: Int = 20
    ) throws -> RedirectRule.Decision {
        let url = try #require(URL(string: from))
        let response = HTTPResponse(
            url: url, status: status, headers: HTTPHeaders(locations.map { HTTPHeader(name: "location", value: $0) }))
        return RedirectRule(limit: limit).decide(method: method, url: url, response: response, hops: hops)
    }

    /// What a request of some method becomes, RFC 9110, 15.4: `GET` without its body, or as it was.
    @Test(arguments: [
        ("GET", 301, "GET body"), ("GET", 302, "GET body"), ("GET", 303, "GET"), ("GET", 307, "GET body"), ("GET", 308, "GET body"),
        ("HEAD", 301, "HEAD body"), ("HEAD", 302, "HEAD body"), ("HEAD", 303, "HEAD"), ("HEAD", 307, "HEAD body"),
        ("POST", 301, "GET"), ("POST", 302, "GET"), ("POST", 303, "GET"), ("POST", 307, "POST body"), ("POST", 308, "POST body"),
        ("PUT", 301, "PUT body"), ("PUT", 302, "PUT body"), ("PUT", 303, "GET"), ("PUT", 307, "PUT body"), ("PUT", 308, "PUT body"),
        ("DELETE", 302, "DELETE body"), ("DELETE", 303, "GET"), ("PATCH", 301, "PATCH body"), ("QUERY", 301, "QUERY body"),
        ("QUERY", 303, "GET"), ("OPTIONS", 303, "GET"),
    ])
    func methodsAndBodies(method: String, status: Int, wanted: String) throws {
        guard case .follow(let redirect) = try self.decide(status, ["/next"], method: method) else {
            Issue.record("not followed")
            return
        }
        #expect(redirect.method + (redirect.keepsBody ? " body" : "") == wanted)
        #expect(redirect.target.absoluteString == "http://a/next")
    }

    @Test(arguments: [200, 201, 204, 300, 304, 305, 306, 399, 401, 500])
    func otherStatusesStay(status: Int) throws { #expect(try self.decide(status, ["/next"]) == .stay) }

    @Test func withoutALocationTheAnswerIsTheAnswer() throws { #expect(try self.decide(302, []) == .stay) }

    @Test func twoLocationsThatAgreeAreOne() throws {
        guard case .follow = try self.decide(302, ["/x", "/x"]) else {
            Issue.record("not followed")
            return
        }
    }

    @Test(arguments: [
        (["/x", "/y"], "badLocation", "the 302 of \"http://a/b?…\" has 2 conflicting Location fields, \"/x\" first"),
        (
            ["ftp://h/x"], "unsupportedScheme",
            "the 302 of \"http://a/b?…\" redirects to \"ftp://h/x\", but only http and https are followed"
        ),
        (["app://back?code=secret"], "unsupportedScheme", "redirects to \"app://back…\""),
        (["javascript:alert(1)"], "unsupportedScheme", "javascript:alert(1)"),
        (["http://"], "badLocation", "without a host"), (["http://h:0/"], "badLocation", "an invalid port"),
        (["http://h:70000/"], "badLocation", "an invalid port"), (["http:///x"], "badLocation", "without a host"),
    ])
    func placesThatNobodyCanGoTo(locations: [String], code: String, words: String) throws {
        guard case .refuse(let error) = try self.decide(302, locations) else {
            Issue.record("not refused")
            return
        }
        #expect(error.code.description == code)
        #expect(error.message.contains(words) && !error.message.contains("secret"), "\(error.message)")
    }

    @Test func theTwentyFirstIsRefused() throws {
        guard case .follow = try self.decide(302, ["/x"], hops: 19) else {
            Issue.record("the 20th was not followed")
            return
        }
        guard case .refuse(let error) = try self.decide(302, ["/x"], hops: 20) else {
            Issue.record("the 21st was followed")
            return
        }
        #expect(error.code == .tooManyRedirects)
        #expect(
            "\(error)" == "\"http://a/b?…\" redirects again after 20 redirects: check whether the server redirects in a loop")
        guard case .refuse = try self.decide(302, ["/x"], limit: 0) else {
            Issue.record("a limit of nought was passed over")
            return
        }
    }
}
