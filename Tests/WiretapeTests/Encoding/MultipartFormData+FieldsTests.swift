import CassetteModel
import Foundation
import Testing
import Wiretape

@Suite struct MultipartFormDataFieldsTests {
    private struct Pet: Encodable {
        var name = "초코"
        var tags = ["b", "a"]
        var owner = ["zip": 1, "city": 2]
        var photo = Data([0, 255])
        var isGood = true
        var chip: Int?
    }

    private func parts(_ form: MultipartFormData) -> [String] {
        form.parts.map { part in
            guard case .octets(let bytes) = part.source else { return "" }
            return part.headers.lines.joined(separator: "|").replacing("Content-Disposition: form-data; name=", with: "") + " \(bytes)"
        }
    }

    @Test func everyValueIsAPartInAStableOrder() throws {
        var form = MultipartFormData()
        try form.append(fieldsOf: Pet())
        #expect(
            self.parts(form) == [
                "\"isGood\" [49]", "\"name\" \(Array("초코".utf8))", "\"owner[city]\" [50]", "\"owner[zip]\" [49]", "\"photo\" [0, 255]",
                "\"tags[]\" [98]", "\"tags[]\" [97]",
            ])
    }

    @Test func theEncoderNamesAndWrites() throws {
        var form = MultipartFormData()
        let encoder = URLEncodedFormEncoder(
            arrayEncoding: .indexInBrackets, boolEncoding: .literal, keyEncoding: .convertToSnakeCase, keyPathEncoding: .dots,
            nilEncoding: .null)
        try form.append(fieldsOf: Pet(), encoder: encoder)
        let names = form.parts.compactMap { ContentDisposition($0.headers)?.name }
        // Synthesized code asks for nil to be encoded where it is present.
        #expect(names == ["chip", "is_good", "name", "owner.city", "owner.zip", "photo", "tags[0]", "tags[1]"])
    }

    @Test func anErrorAppendsNothing() throws {
        var form = MultipartFormData()
        #expect(throws: FormDataError.self) { try form.append(fieldsOf: ["a": "1", "b\0": "2"]) }
        #expect(throws: ParameterEncodingError.self) { try form.append(fieldsOf: [1]) }
        #expect(form.parts.isEmpty)
    }
}
