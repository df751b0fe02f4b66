import Foundation
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct URLRequestConvertibleTests {
    private enum Router: URLRequestConvertible {
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

    private struct Named: URLRequestConvertible {
        let requestLabel: String? = "first page"

        func asURLRequest() throws -> URLRequest { try URLRequest(url: "http://h/", method: .get) }
    }

    private struct Plain: URLRequestConvertible {
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
