import Testing
import Wiretape

@Suite struct HTTPHeaderErrorTests {
    @Test func theTextNamesTheFieldOnOneLine() {
        #expect {
            try ([HTTPHeader(name: "a\n\"b", value: "")] as HTTPHeaders).validated()
        } throws: {
            "\($0)" == "\"a\\n\\\"b\" cannot be the name of a header field: take letters, digits and \"-\""
        }
    }
}
