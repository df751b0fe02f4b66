import Foundation
import Testing
import Wiretape

@Suite struct DataPreprocessorTests {
    private struct Reversed: DataPreprocessor {
        func preprocess(_ data: Data) -> Data { Data(data.reversed()) }
    }

    @Test func everySerializerPreprocesses() throws {
        let (request, response) = (try SampleResponse.request(), try SampleResponse.response())
        func value<Serializer: ResponseSerializer>(_ serializer: Serializer, _ text: String) throws -> Serializer.SerializedObject {
            try serializer.serialize(request: request, response: response, data: Data(text.utf8), error: nil)
        }
        #expect(try value(DataResponseSerializer(dataPreprocessor: Reversed()), "ab") == Data("ba".utf8))
        #expect(try value(StringResponseSerializer(dataPreprocessor: Reversed()), "ab") == "ba")
        #expect(try value(JSONResponseSerializer(dataPreprocessor: Reversed()), "]21[").elements.map(\.int) == [12])
        #expect(try value(DecodableResponseSerializer<Int>(dataPreprocessor: Reversed()), "21") == 12)
        #expect(try value(DataResponseSerializer(dataPreprocessor: .googleXSSI), ")]}',\nx") == Data("x".utf8))
        let list = String("<plist version=\"1.0\"><string>a</string></plist>".reversed())
        #expect(try value(PropertyListResponseSerializer(dataPreprocessor: Reversed()), list) == .string("a"))
    }
}
