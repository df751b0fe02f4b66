import Testing
import Wiretape

@Suite struct HTTPHeaderErrorTests {
    @Test func theTextNamesTheFieldOnOneLine() {
        #expect {
            try ([HTTPHeader(name: "a\n\"b", value: "")] as HTTPHeaders).validated()
        } throws: {
            "\($0)" == "\"a\\n\\\"b\" is not a header field name: use letters, digits and \"-\""
        }
    }
}
