import Foundation
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct ResponseSerializerTests {
    /// A custom serializer: only the method is required.
    private struct Length: HTTPSession.ResponseSerializer {
        func serialize(request: URLRequest?, response: HTTPSession.Response?, data: Data?, error: (any Error)?) throws -> Int {
            try self.body(request: request, response: response, data: data, error: error)?.count ?? 0
        }
    }

    private struct Own: Error {}

    @Test func anOwnSerializerHasTheRulesForEmptyBodies() throws {
        let (get, head) = (try SampleResponse.request(), try SampleResponse.request(.head))
        let (ok, noContent) = (try SampleResponse.response(), try SampleResponse.response(204))
        #expect(try Length().serialize(request: get, response: ok, data: Data([1, 2]), error: nil) == 2)
        #expect(try Length().serialize(request: head, response: ok, data: nil, error: nil) == 0)
        #expect(try Length().serialize(request: get, response: noContent, data: Data(), error: nil) == 0)
        #expect { try Length().serialize(request: get, response: ok, data: Data(), error: nil) } throws: {
            ($0 as? SerializationError)?.code == .emptyBody
        }
        #expect(throws: SerializationError.self) { try Length().serialize(request: nil, response: nil, data: nil, error: nil) }
    }

    @Test func theErrorOfTheRequestComesFirst() throws {
        #expect(throws: Own.self) { try Length().serialize(request: nil, response: nil, data: Data([1]), error: Own()) }
        #expect(throws: Own.self) { try Length().serializeDownload(request: nil, response: nil, fileURL: nil, error: Own()) }
    }

    @Test func aDownloadIsReadFromItsFile() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape-\(UUID().uuidString)")
        try Data("{\"a\":1}".utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        #expect(try Length().serializeDownload(request: nil, response: nil, fileURL: url, error: nil) == 7)
        #expect(
            try HTTPSession.JSONResponseSerializer().serializeDownload(request: nil, response: nil, fileURL: url, error: nil)["a"]?.int == 1
        )
        #expect {
            try Length().serializeDownload(request: nil, response: nil, fileURL: url.appendingPathExtension("no"), error: nil)
        } throws: {
            ($0 as? SerializationError)?.code == .unreadableFile
        }
        let noContent = try SampleResponse.response(204)
        #expect(try Length().serializeDownload(request: nil, response: noContent, fileURL: nil, error: nil) == 0)
    }
}

@Suite struct DataPreprocessorTests {
    private struct Reversed: HTTPSession.DataPreprocessor {
        func preprocess(_ data: Data) -> Data { Data(data.reversed()) }
    }

    @Test func everySerializerPreprocesses() throws {
        let (request, response) = (try SampleResponse.request(), try SampleResponse.response())
        func value<Serializer: HTTPSession.ResponseSerializer>(_ serializer: Serializer, _ text: String) throws
            -> Serializer.SerializedObject
        {
            try serializer.serialize(request: request, response: response, data: Data(text.utf8), error: nil)
        }
        #expect(try value(HTTPSession.DataResponseSerializer(dataPreprocessor: Reversed()), "ab") == Data("ba".utf8))
        #expect(try value(HTTPSession.StringResponseSerializer(dataPreprocessor: Reversed()), "ab") == "ba")
        #expect(try value(HTTPSession.JSONResponseSerializer(dataPreprocessor: Reversed()), "]21[").elements.map(\.int) == [12])
        #expect(try value(HTTPSession.DecodableResponseSerializer<Int>(dataPreprocessor: Reversed()), "21") == 12)
        #expect(try value(HTTPSession.DataResponseSerializer(dataPreprocessor: .googleXSSI), ")]}',\nx") == Data("x".utf8))
        let list = String("<plist version=\"1.0\"><string>a</string></plist>".reversed())
        #expect(try value(HTTPSession.PropertyListResponseSerializer(dataPreprocessor: Reversed()), list) == .string("a"))
    }
}

@Suite struct DataResponseSerializerTests {
    @Test func theBodyIsTheValue() throws {
        let serializer: HTTPSession.DataResponseSerializer = .data
        let (request, response) = (try SampleResponse.request(), try SampleResponse.response())
        #expect(try serializer.serialize(request: request, response: response, data: Data([0, 255]), error: nil) == Data([0, 255]))
        let noContent = try SampleResponse.response(205)
        #expect(try serializer.serialize(request: request, response: noContent, data: nil, error: nil) == Data())
    }

    @Test func theRulesForEmptyBodiesCanBeChanged() throws {
        let serializer = HTTPSession.DataResponseSerializer(emptyRequestMethods: [.get], emptyResponseCodes: [])
        let noContent = try SampleResponse.response(204)
        #expect(try serializer.serialize(request: SampleResponse.request(), response: noContent, data: nil, error: nil) == Data())
        #expect(throws: SerializationError.self) {
            try serializer.serialize(request: SampleResponse.request(.post), response: noContent, data: nil, error: nil)
        }
    }
}

@Suite struct EmptyBodyRuleTests {
    private let rule = EmptyBodyRule(requestMethods: EmptyBodyRule.requestMethods, responseCodes: EmptyBodyRule.responseCodes)

    @Test(arguments: [
        (HTTPSession.Method.head, 200, true), (.get, 204, true), (.post, 205, true), (.get, 200, false), (.get, 304, false),
        (.head, 404, true),
    ]) func methodsAndStatuses(method: HTTPSession.Method, status: Int, isAllowed: Bool) {
        #expect(self.rule.allows(method: method, status: status) == isAllowed)
    }

    @Test func theErrorNamesTheReceivedContent() {
        #expect(!self.rule.allows(method: nil, status: nil))
        #expect { try self.rule.check(method: .get, status: 200) } throws: {
            "\($0)"
                == "the GET response with the status 200 has no body: add the method to \"emptyRequestMethods\" or the status to \"emptyResponseCodes\" if that is expected"
        }
        #expect { try self.rule.check(method: nil, status: nil) } throws: { "\($0)".hasPrefix("the response has no body") }
    }
}

@Suite struct EmptyTests {
    @Test func nothingIsAnyObject() throws {
        #expect(try JSONDecoder().decode(HTTPSession.Empty.self, from: Data("{\"a\":1}".utf8)) == .value)
        #expect(HTTPSession.Empty.emptyValue() == .value)
    }
}

@Suite struct GoogleXSSIPreprocessorTests {
    @Test(arguments: [
        (")]}',\n{\"a\":1}", "{\"a\":1}"), ("{\"a\":1}", "{\"a\":1}"), (")]}'", ")]}'"), (")]}',\n", ""), ("", ""),
        (")]}',\n)]}',\n", ")]}',\n"),
    ]) func thePrefixIsRemovedOnce(text: String, expected: String) {
        let result = HTTPSession.GoogleXSSIPreprocessor().preprocess(Data(text.utf8))
        #expect(result == Data(expected.utf8) && result.startIndex == 0)
    }
}

@Suite struct PassthroughPreprocessorTests {
    @Test func dataStaysAsItIs() {
        #expect((.passthrough as HTTPSession.PassthroughPreprocessor).preprocess(Data([1, 2])) == Data([1, 2]))
    }
}

@Suite struct SerializationErrorTests {
    @Test func codesAreDistinctAndNamed() {
        #expect(SerializationError.Code.emptyBody != .invalidJSON)
        #expect("\(SerializationError.Code.unknownCharset)" == "unknownCharset")
        #expect("\(SerializationError(.invalidText, "words"))" == "words")
    }
}

@Suite struct URLResponseSerializerTests {
    private struct Own: Error {}

    @Test func thePlaceOfTheFileIsTheValue() throws {
        let url = URL(fileURLWithPath: "/tmp/a")
        #expect(
            try (.url as HTTPSession.URLResponseSerializer).serializeDownload(request: nil, response: nil, fileURL: url, error: nil) == url)
        #expect(throws: Own.self) {
            try HTTPSession.URLResponseSerializer().serializeDownload(request: nil, response: nil, fileURL: url, error: Own())
        }
        #expect(throws: SerializationError.self) {
            try HTTPSession.URLResponseSerializer().serializeDownload(request: nil, response: nil, fileURL: nil, error: nil)
        }
    }
}
