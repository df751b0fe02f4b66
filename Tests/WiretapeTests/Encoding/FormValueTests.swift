import Foundation
import Testing
@testable import Wiretape

@Suite struct FormFieldsTests {
    private let tree = FormValue.object([
        .init(name: "b", value: .array([.leaf(.text("1")), .object([.init(name: "d", value: .leaf(.text("2")))])])),
        .init(name: "a", value: .leaf(.bytes(.init([1])))), .init(name: "A", value: .leaf(.text("3"))),
        .init(name: "e", value: .array([])),
    ])

    private func names(isSorted: Bool, key: HTTPSession.URLEncodedFormEncoder.KeyEncoding = .useDefaultKeys) throws -> [String] {
        try FormFields(array: .brackets, key: key, keyPath: .brackets, isSorted: isSorted).pairs(of: self.tree).map(\.name)
    }

    @Test func everyLeafHasItsFullName() throws {
        #expect(try self.names(isSorted: false) == ["b[]", "b[][d]", "a", "A"])
        #expect(try self.names(isSorted: true) == ["A", "a", "b[]", "b[][d]"])
    }

    @Test func namesThatBecomeOneKeepTheirOrder() throws {
        #expect(try self.names(isSorted: true, key: .custom { $0 == "b" ? "z" : "x" }) == ["x", "x", "z[]", "z[][x]"])
    }

    @Test func onlyAnObjectHasNames() {
        #expect(throws: ParameterEncodingError.self) {
            try FormFields(array: .brackets, key: .useDefaultKeys, keyPath: .dots, isSorted: true).pairs(of: .array([]))
        }
    }
}
