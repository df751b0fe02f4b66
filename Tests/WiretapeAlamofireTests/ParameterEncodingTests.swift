import Foundation
import Testing
import Wiretape
import WiretapeAlamofire

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct JSONEncodingTests {
    private func body(_ encoding: JSONEncoding, _ object: Any?) throws -> String? {
        let request = try encoding.encode(try URLRequest(url: "http://h/", method: .post), withJSONObject: object)
        #expect(request.headers["Content-Type"] == (object == nil ? nil : "application/json"))
        return request.httpBody.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func anyJSONValueIsABody() throws {
        #expect(try self.body(.default, ["b": 1, "a": [true, NSNull(), "한"]] as [String: Any]) == #"{"a":[true,null,"한"],"b":1}"#)
        #expect(try self.body(.default, [1, 2]) == "[1,2]")
        #expect(try self.body(.default, "x") == "\"x\"")
        #expect(try self.body(.prettyPrinted, ["a": 1])?.contains("\n") == true)
        #expect(try self.body(.default, nil) == nil)
    }

    @Test func parametersAreAnObject() throws {
        let request = try (.json as JSONEncoding).encode(try URLRequest(url: "http://h/", method: .put), with: ["a": 1])
        #expect(request.httpBody == Data("{\"a\":1}".utf8))
    }

    @Test func valueThatIsNoJSONIsRefusedWithoutATrap() throws {
        #expect(throws: ParameterEncodingError.self) { try self.body(.default, NSObject()) }
        #expect(throws: ParameterEncodingError.self) { try self.body(.default, [Double.nan]) }
    }
}

@Suite struct PropertyListEncodingTests {
    @Test(arguments: [PropertyListEncoding.xml, .binary]) func aDictionaryComesBack(encoding: PropertyListEncoding) throws {
        let request = try encoding.encode(try URLRequest(url: "http://h/", method: .post), with: ["a": [1, 2], "b": Data([1]), "c": true])
        let body = try #require(request.httpBody)
        let list = try PropertyListSerialization.propertyList(from: body, format: nil) as? [String: Any]
        #expect(list?["a"] as? [Int] == [1, 2] && list?["b"] as? Data == Data([1]) && list?["c"] as? Bool == true)
        #expect(request.headers["Content-Type"] == "application/x-plist")
    }

    @Test func nothingIsRefusedAndNoParametersChangeNothing() throws {
        let request = try URLRequest(url: "http://h/", method: .post)
        #expect(throws: ParameterEncodingError.self) { try (.propertyList as PropertyListEncoding).encode(request, with: ["a": NSNull()]) }
        #expect(try PropertyListEncoding.xml.encode(request, with: nil) == request)
    }
}

@Suite struct URLEncodingTests {
    private func query(_ parameters: Parameters, _ encoding: URLEncoding = .default) throws -> String {
        try encoding.query(parameters).removingPercentEncoding ?? ""
    }

    @Test func listsAndDictionaries() throws {
        let parameters: Parameters = [
            "foo": ["b", "a"], "bar": ["y": 1, "x": [true, false] as [any Sendable]] as Parameters, "a": "1 2",
        ]
        #expect(try self.query(parameters) == "a=1 2&bar[x][]=1&bar[x][]=0&bar[y]=1&foo[]=b&foo[]=a")
        #expect(
            try self.query(parameters, URLEncoding(arrayEncoding: .noBrackets, boolEncoding: .literal))
                == "a=1 2&bar[x]=true&bar[x]=false&bar[y]=1&foo=b&foo=a")
    }

    @Test func numbersAndBools() throws {
        let parameters: Parameters = ["a": true, "b": 1, "c": NSNumber(value: true), "d": NSNumber(value: 1), "e": 1.5, "f": NSNull()]
        #expect(try self.query(parameters, URLEncoding(boolEncoding: .literal)) == "a=true&b=1&c=true&d=1&e=1.5")
    }

    @Test func everythingButUnreservedIsEscaped() throws {
        #expect(try URLEncoding().query(["a&b": "=+한/?"]) == "a%26b=%3D%2B%ED%95%9C/?")
    }

    @Test func nilIsLeftOutEverywhere() throws {
        #expect(try self.query(["b": [1, NSNull(), "x"] as [any Sendable], "a": true, "c": NSNull()]) == "a=1&b[]=1&b[]=x")
    }

    @Test func theErrorNamesThePlace() {
        struct Odd: Sendable {}
        #expect { try self.query(["a": ["b": [1, Odd()] as [any Sendable]] as Parameters]) } throws: {
            "\($0)"
                == "\"a[b][1]\" has the unsupported type \"Odd\": use a string, a number, an array, a dictionary or an Encodable value"
        }
    }

    @Test func listsWithoutEndAreRefused() {
        var value: any Sendable = 1
        for _ in 0..<200 { value = [value] }
        #expect { try self.query(["a": value]) } throws: { ($0 as? ParameterEncodingError)?.code == .tooDeep }
    }

    @Test func destinations() throws {
        let post = try URLRequest(url: "http://h/?q", method: .post)
        #expect(try URLEncoding.queryString.encode(post, with: ["a": 1]).url?.absoluteString == "http://h/?q&a=1")
        #expect(try (.url as URLEncoding).encode(post, with: ["a": 1]).httpBody == Data("a=1".utf8))
        #expect(
            try URLEncoding.httpBody.encode(try URLRequest(url: "http://h/", method: .get), with: ["a": 1]).httpBody == Data("a=1".utf8))
        #expect(try URLEncoding.default.encode(post, with: nil) == post)
    }
}

@Suite struct RequestParameterTests {
    private func body(_ make: (Session) -> DataRequest) async -> String {
        let transport = StubTransport { _ in .response(200) }
        _ = await make(Session(transport: transport)).serializingData().response
        guard case .data(let body) = transport.requests.first?.body else { return "" }
        return String(decoding: body, as: UTF8.self)
    }

    /// The three ways in which apps call it: without an encoding, with an encoding, and with an encoder.
    @Test func literalsFindTheirEncoding() async {
        #expect(await self.body { $0.request("http://h/", method: .post, parameters: ["a": "b"]) } == "a=b")
        #expect(await self.body { $0.request("http://h/", method: .post, parameters: ["a": "b", "c": 1]) } == "a=b&c=1")
        let parameters: Parameters = ["c": ["d": 1]]
        #expect(await self.body { $0.request("http://h/", method: .post, parameters: parameters) } == "c%5Bd%5D=1")
        #expect(
            await self.body { $0.request("http://h/", method: .post, parameters: ["a": 1], encoding: JSONEncoding.default) } == #"{"a":1}"#)
        #expect(
            await self.body { $0.request("http://h/", method: .post, parameters: ["a": 1], encoder: JSONParameterEncoder.default) }
                == #"{"a":1}"#)
        #expect(
            await self.body {
                $0.request("http://h/", method: .post, parameters: ["a": 1], encoder: URLEncodedFormParameterEncoder.default)
            }
                == "a=1")
        #expect(
            await self.body { $0.request("http://h/", method: .post, parameters: ["a": 1], encoder: JSONParameterEncoder.prettyPrinted) }
                == "{\n  \"a\" : 1\n}")
    }
}
