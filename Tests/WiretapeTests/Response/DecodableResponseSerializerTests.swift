import Foundation
import Testing
@testable import Wiretape

@Suite struct DecodableResponseSerializerTests {
    private struct Pet: Codable, Sendable, Equatable { var name: String }

    private func value<Value: Decodable & Sendable>(_ type: Value.Type, _ text: String?, status: Int = 200) throws -> Value {
        try HTTPSession.DecodableResponseSerializer(of: type)
            .serialize(request: nil, response: SampleResponse.response(status), data: text.map { Data($0.utf8) }, error: nil)
    }

    @Test func aBodyIsDecoded() throws {
        #expect(try self.value([Pet].self, "[{\"name\":\"초코\"}]") == [Pet(name: "초코")])
        let list = try PropertyListEncoder().encode(Pet(name: "a"))
        let serializer = HTTPSession.DecodableResponseSerializer<Pet>(decoder: PropertyListDecoder())
        #expect(try serializer.serialize(request: nil, response: nil, data: list, error: nil) == Pet(name: "a"))
    }

    @Test func theErrorSaysWhichValueIsWrong() {
        #expect { try self.value([Pet].self, "[{\"name\":\"a\"},{}]") } throws: {
            let error = $0 as? SerializationError
            return error?.code == .undecodable && error?.cause is DecodingError
                && "\($0)".hasPrefix("could not decode \"Array<Pet>\" from the 17-byte body: ")
                && "\($0)".hasSuffix(" has no \"name\"; make the property optional, or look at the body")
        }
    }

    @Test func nothingIsTheEmptyValue() throws {
        #expect(try self.value(HTTPSession.Empty.self, nil, status: 204) == .value)
        #expect { try self.value(Pet.self, "", status: 204) } throws: { ($0 as? SerializationError)?.code == .notEmptiable }
        #expect { try self.value(HTTPSession.Empty.self, nil) } throws: { ($0 as? SerializationError)?.code == .emptyBody }
    }
}

@Suite struct DataDecoderTests {
    @Test func foundationsDecodersAreSome() throws {
        let decoders: [any HTTPSession.DataDecoder] = [JSONDecoder(), PropertyListDecoder()]
        let texts = ["{\"a\":1}", "<plist version=\"1.0\"><dict><key>a</key><integer>1</integer></dict></plist>"]
        for (decoder, text) in zip(decoders, texts) {
            #expect(try decoder.decode([String: Int].self, from: Data(text.utf8)) == ["a": 1])
        }
    }
}

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
