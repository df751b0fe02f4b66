import Testing

@testable import WiretapeCLI

@Suite struct ChildEnvironmentTests {
    private static let proxy = "http://127.0.0.1:7070"

    @Test func everyNameOfAProxyIsSetOverTheParentsOwn() {
        let environment = ChildEnvironment.through(proxy: Self.proxy, parent: ["http_proxy": "http://other.test", "HOME": "/h"])
        let names = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        #expect(environment == Dictionary(uniqueKeysWithValues: names.map { ($0, Self.proxy) }).merging(["HOME": "/h"]) { $1 })
    }

    @Test func exceptionsAreMadeUpForNobody() {
        let environment = ChildEnvironment.through(proxy: Self.proxy, parent: ["NO_PROXY": "*"])
        #expect(environment["NO_PROXY"] == "")
        #expect(environment["no_proxy"] == nil)
    }

    @Test(arguments: [
        "*", "localhost", "LocalHost", ".localhost", "api.localhost", "localhost:8080", "127.0.0.1", "127.1.2.3:80", "127.0.0.0/8", "::1",
        "[::1]",
        "[::1]:8080", "0.0.0.0",
    ])
    func loopbackIsTakenOut(exception: String) {
        #expect(ChildEnvironment.withoutLoopback("a.test,\(exception), b.test") == "a.test,b.test")
    }

    @Test(arguments: [
        "example.test", ".internal", "10.0.0.0/8", "mylocalhost", "fe80::1", "[fe80::1]:80", "12.7.0.1", "*.test", "localhost.test", "[",
        ":",
    ])
    func otherExceptionsStay(exception: String) {
        #expect(ChildEnvironment.withoutLoopback("localhost \(exception)") == exception)
    }

    @Test func nothingStaysNothing() {
        #expect(ChildEnvironment.withoutLoopback("") == "")
        #expect(ChildEnvironment.withoutLoopback(" , ,") == "")
    }
}
