@testable import CassetteModel
@testable import CassetteTools
import Testing

@Suite struct ProtoComparisonTests {
    private func changes(_ old: [ProtoField], _ new: [ProtoField], showsAll: Bool = false) -> [FieldChange] {
        ProtoComparison(ProtoMessage(fields: old), ProtoMessage(fields: new), showsAll: showsAll).changes
    }

    @Test func aFieldIsNamedByItsPath() {
        let old: [ProtoField] = [.message(1, .text(2, "Rex", name: "name"), name: "pet"), ProtoField(3, .varint(1))]
        let new: [ProtoField] = [.message(1, .text(2, "Tom", name: "name"), name: "pet"), ProtoField(3, .varint(2))]
        #expect(
            self.changes(old, new) == [FieldChange("grpc:/1:pet/2:name", "\"Rex\"", "\"Tom\""), FieldChange("grpc:/3", "1", "2")])
    }

    @Test func fieldsOfOtherNumbersComeInAnyOrder() {
        #expect(self.changes([.text(1, "a"), .text(2, "b")], [.text(2, "b"), .text(1, "a")]) == [])
        #expect(
            self.changes([.text(1, "a"), .text(1, "b")], [.text(1, "b"), .text(1, "a")])
                == [FieldChange("grpc:/1", "\"a\"", "\"b\""), FieldChange("grpc:/1", "\"b\"", "\"a\"")])
    }

    @Test func missingFieldsOfEitherSideAreReported() {
        #expect(
            self.changes([.text(1, "a")], [.message(2, .text(1, "b"))])
                == [FieldChange("grpc:/1", "\"a\"", nil), FieldChange("grpc:/2", nil, "a message of 1 field")])
    }

    @Test func valuesOfSecretNamesAreHidden() {
        #expect(
            self.changes([.text(1, "a", name: "api_key")], [.text(1, "b", name: "api_key")])
                == [FieldChange("grpc:/1:api_key", FieldChange.hidden, FieldChange.hidden)])
    }

    @Test func anotherNumberOfAPlaceholderIsNoChange() {
        let (old, new): ([ProtoField], [ProtoField]) = ([.text(1, "{{jwt:1}}")], [.text(1, "{{jwt:2}}")])
        #expect(self.changes(old, new) == [])
        #expect(self.changes(old, new, showsAll: true).count == 1)
    }
}
