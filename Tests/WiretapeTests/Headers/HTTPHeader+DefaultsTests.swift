import Testing

@testable import Wiretape

@Suite struct HTTPHeaderDefaultsTests {
    @Test func codingsAreThoseOfEveryPlatform() {
        #expect(HTTPHeader.defaultAcceptEncoding.value == "br;q=1.0, gzip;q=0.9, deflate;q=0.8")
    }

    @Test func weightsFallAndStayAboveNothing() {
        #expect(HTTPHeader.weighted([]) == "")
        let twelve = HTTPHeader.weighted(Array(repeating: "a", count: 12))
        #expect(twelve.hasPrefix("a;q=1.0, a;q=0.9, ") && twelve.hasSuffix("a;q=0.1, a;q=0.1, a;q=0.1"))
        #expect(!HTTPHeader.defaultAcceptLanguage.value.isEmpty)
    }

    @Test func theAgentIsTheAppAndTheLibrary() {
        #expect(HTTPHeader.userAgent(of: [:]) == "Wiretape/1")
        #expect(HTTPHeader.userAgent(of: ["CFBundleExecutable": "Pets"]) == "Pets Wiretape/1")
        #expect(HTTPHeader.userAgent(of: ["CFBundleExecutable": "Pets", "CFBundleShortVersionString": "2.1"]) == "Pets/2.1 Wiretape/1")
        #expect(HTTPHeader.userAgent(of: ["CFBundleExecutable": "My (Pets)\r\n"]) == "My--Pets--- Wiretape/1")
        #expect(HTTPHeader.userAgent(of: ["CFBundleExecutable": ""]) == "Wiretape/1")
    }
}
