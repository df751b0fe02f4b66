import Foundation
import Testing

@testable import Wiretape

@Suite struct FormValueFoundationTests {
    private func tree(_ dictionary: [String: Any]) throws -> FormValue { try FormValue(dictionary, URLEncodedFormEncoder().leaves) }

    @Test func aDictionaryBecomesASortedObject() throws {
        #expect(
            try self.tree(["b": [1, NSNull(), "x"], "a": true, "c": NSNull()])
                == .object([
                    .init(name: "a", value: .leaf(.text("1"))), .init(name: "b", value: .array([.leaf(.text("1")), .leaf(.text("x"))])),
                ]))
    }

    @Test func theErrorNamesThePlace() {
        #expect { try self.tree(["a": ["b": [1, NSObject()]]]) } throws: {
            "\($0)"
                == "\"a[b][1]\" has the unsupported type \"NSObject\": use a string, a number, an array, a dictionary or an Encodable value"
        }
    }

    @Test func dictionariesWithoutEndAreRefused() {
        var value: Any = 1
        for _ in 0..<200 { value = [value] }
        #expect { try self.tree(["a": value]) } throws: { ($0 as? ParameterEncodingError)?.code == .tooDeep }
    }
}
