import Testing
import TapeProxy

@testable import WiretapeCLI

@Suite struct JavaOptionsTests {
    private static let address = ListenAddress(host: "127.0.0.1", port: 7070)
    private static let proxy =
        "-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=7070 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=7070 -Dhttp.nonProxyHosts="

    @Test func proxyAndStoreAreProperties() {
        let value = JavaOptions.value(proxy: Self.address, store: "/t.p12", parent: nil)
        #expect(
            value
                == "-Djavax.net.ssl.trustStore=/t.p12 -Djavax.net.ssl.trustStoreType=PKCS12 -Djavax.net.ssl.trustStorePassword=changeit "
                + Self.proxy)
        #expect(JavaOptions.value(proxy: Self.address, store: nil, parent: "") == Self.proxy)
    }

    @Test func theParentsOptionsStayInFront() {
        let value = JavaOptions.value(proxy: Self.address, store: nil, parent: "  -Xmx1g\t-Da='b  c' -De=\"f 'g\" ")
        #expect(value == "-Xmx1g -Da='b  c' -De=\"f 'g\" " + Self.proxy)
    }

    @Test func aRunInARunDoesNotAddAgain() {
        let outer = JavaOptions.value(proxy: ListenAddress(host: "::1", port: 1), store: "/a b/t.p12", parent: "-Xmx1g")
        #expect(outer.contains("'-Djavax.net.ssl.trustStore=/a b/t.p12'"))
        #expect(
            JavaOptions.value(proxy: Self.address, store: "/t.p12", parent: outer)
                == JavaOptions.value(proxy: Self.address, store: "/t.p12", parent: "-Xmx1g"))
    }

    @Test(
        .enabled(if: Programs.isInstalled("java")),
        arguments: ["/a/t.p12", "/a b/t.p12", "/it's/t.p12", "/a \"b\"/t.p12", "/Library/Application Support/t.p12"])
    func javaReadsThePathAsItIs(path: String) throws {
        let value = JavaOptions.value(proxy: Self.address, store: path, parent: "-Dkept='x  y'")
        let end = try ExternalProgram.run(
            try Programs.find("java"), ["-XshowSettings:properties", "-version"], environment: ["JAVA_TOOL_OPTIONS": value])
        #expect(end.errors.contains("\n    javax.net.ssl.trustStore = \(path)\n"), "\(end.errors)")
        #expect(end.errors.contains("\n    kept = x  y\n") && end.errors.contains("\n    https.proxyPort = 7070\n"))
    }
}
