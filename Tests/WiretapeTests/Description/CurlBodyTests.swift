import Testing

@testable import Wiretape

@Suite struct CurlBodyTests {
    @Test func textStandsInTheCommand() {
        #expect(CurlBody(Array("a 'b'\n".utf8)).arguments == ["--data-raw 'a '\\''b'\\''\n'"])
        #expect(CurlBody([]).arguments == ["--data-raw ''"] && CurlBody([]).source == nil)
    }

    @Test func otherBytesArePiped() {
        #expect(CurlBody([0xFF, 0]).source == "printf '%s' '/wA=' | base64 -d")
        #expect(CurlBody(Array("a\r\n".utf8)).source == "printf 'a\\015\\n'")
        #expect(CurlBody(Array(repeating: 0x61, count: 200_000)).source?.hasPrefix("printf '%s' 'aaa") == true)
        #expect(CurlBody([0xFF]).arguments == ["--data-binary @-"])
    }

    @Test func aFileIsNamed() {
        #expect(CurlBody(path: "/tmp/it's").arguments == ["--data-binary '@/tmp/it'\\''s'"])
    }
}
