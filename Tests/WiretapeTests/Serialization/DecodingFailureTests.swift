import Foundation
import Testing

@testable import Wiretape

@Suite struct DecodingFailureTests {
    private struct Pet: Decodable { let name: String, tags: [Int] }

    private func words(_ text: String) -> String {
        do {
            _ = try JSONDecoder().decode(Pet.self, from: Data(text.utf8))
            return ""
        } catch {
            return DecodingFailure.text(error)
        }
    }

    @Test func everyKindSaysWhere() {
        #expect(self.words("{}") == "the body has no \"name\"; make the property optional, or look at the body")
        #expect(self.words("{\"name\":null,\"tags\":[]}").hasPrefix("\"name\" is null, expected \"String\""))
        #expect(self.words("{\"name\":1,\"tags\":[]}").hasPrefix("\"name\" is not of the expected type \"String\""))
        #expect(self.words("{\"name\":\"a\",\"tags\":[1,\"b\"]}").hasPrefix("\"tags["))
        #expect(self.words("{").hasPrefix("the body: "))
    }

    @Test func otherErrorsAreTakenAsTheyAre() {
        struct Own: Error {}
        #expect(DecodingFailure.text(Own()) == "Own()")
    }
}
