import Foundation
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct URLConvertibleTests {
    @Test func textsURLsAndComponentsAreURLs() throws {
        let url = try "https://h/한?a=b".asURL()
        #expect(url.absoluteString == "https://h/%ED%95%9C?a=b")
        #expect(try url.asURL() == url)
        var components = URLComponents()
        (components.scheme, components.host, components.port, components.path) = ("https", "h", 8443, "/a b")
        #expect(try components.asURL().absoluteString == "https://h:8443/a%20b")
    }

    @Test func componentsThatMakeNoURLAreRefused() {
        var components = URLComponents()
        (components.scheme, components.host, components.path) = ("https", "h", "a")
        #expect {
            _ = try components.asURL()
        } throws: {
            "\($0)" == "the components with host \"h\" and path \"a\" do not form a URL: begin the path with \"/\""
        }
    }
}

@Suite struct URLQueryTests {
    @Test(arguments: [
        ("http://h", "http://h?x=1"), ("http://h/a", "http://h/a?x=1"), ("http://h/a?", "http://h/a?x=1"),
        ("http://h/a?b=%5B&c", "http://h/a?b=%5B&c&x=1"), ("http://h/a?b&", "http://h/a?b&x=1"), ("http://h/a#f?g", "http://h/a?x=1#f?g"),
    ]) func aQueryIsAppendedToTheExistingOne(text: String, expected: String) throws {
        #expect(try text.asURL().appending(query: "x=1").absoluteString == expected)
        #expect(try text.asURL().appending(query: "").absoluteString == text)
    }
}

@Suite struct URLConversionErrorTests {
    @Test func codesAreDistinctAndNamed() {
        #expect(URLConversionError.Code.noHost != .noScheme)
        #expect("\(URLConversionError.Code.invalidPercent)" == "invalidPercent")
        #expect("\(URLConversionError(.noHost, "words"))" == "words")
    }
}

@Suite struct URLRequestConvertibleTests {
    private enum Router: HTTPSession.URLRequestConvertible {
        case list
        case upload(name: String)
        case login(String, password: String)

        func asURLRequest() throws -> URLRequest {
            switch self {
            case .list: try URLRequest(url: "http://h/pets", method: .get)
            case .upload(let name): try URLRequest(url: "http://h/pets/\(name)", method: .post)
            case .login: try URLRequest(url: "login", method: .post)
            }
        }
    }

    private struct Named: HTTPSession.URLRequestConvertible {
        let requestLabel: String? = "first page"

        func asURLRequest() throws -> URLRequest { try URLRequest(url: "http://h/", method: .get) }
    }

    private struct Plain: HTTPSession.URLRequestConvertible {
        let secret = "s"

        func asURLRequest() throws -> URLRequest { try URLRequest(url: "http://h/", method: .get) }
    }

    @Test func aRoutersCaseIsItsLabelWithoutValues() {
        #expect(Router.list.requestLabel == "list")
        #expect(Router.upload(name: "x").requestLabel == "upload")
        #expect(Router.login("a", password: "b").requestLabel == "login")
    }

    @Test func othersHaveTheLabelTheySay() throws {
        #expect(Named().requestLabel == "first page")
        #expect(Plain().requestLabel == nil)
        #expect(try Named().asURLRequest().requestLabel == nil)
    }

    @Test func aRequestThatCannotBeMadeIsNil() {
        #expect(Router.upload(name: "가").urlRequest?.url?.absoluteString == "http://h/pets/%EA%B0%80")
        #expect(Router.login("a", password: "b").urlRequest == nil)
    }
}
