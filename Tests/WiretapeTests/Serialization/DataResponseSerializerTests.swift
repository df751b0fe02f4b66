import Foundation
import Testing
import Wiretape

@Suite struct DataResponseSerializerTests {
    @Test func theBodyIsTheValue() throws {
        let serializer: DataResponseSerializer = .data
        let (request, response) = (try SampleResponse.request(), try SampleResponse.response())
        #expect(try serializer.serialize(request: request, response: response, data: Data([0, 255]), error: nil) == Data([0, 255]))
        let noContent = try SampleResponse.response(205)
        #expect(try serializer.serialize(request: request, response: noContent, data: nil, error: nil) == Data())
    }

    @Test func theRulesForEmptyBodiesCanBeChanged() throws {
        let serializer = DataResponseSerializer(emptyRequestMethods: [.get], emptyResponseCodes: [])
        let noContent = try SampleResponse.response(204)
        #expect(try serializer.serialize(request: SampleResponse.request(), response: noContent, data: nil, error: nil) == Data())
        #expect(throws: SerializationError.self) {
            try serializer.serialize(request: SampleResponse.request(.post), response: noContent, data: nil, error: nil)
        }
    }
}
