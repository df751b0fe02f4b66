@testable import CassetteModel

/// The descriptors of a small service as protoc writes them, with every kind of field that has its own form.
enum SampleSchema {
    private static func text(_ number: Int, _ text: String) -> ProtoField { ProtoField(number, .text(Array(text.utf8))) }

    private static func field(_ number: Int, _ name: String, _ type: UInt64, label: UInt64 = 1, of typeName: String? = nil) -> ProtoField {
        var fields = [
            Self.text(1, name), ProtoField(3, .varint(UInt64(number))), ProtoField(4, .varint(label)), ProtoField(5, .varint(type)),
        ]
        if let typeName { fields.append(Self.text(6, typeName)) }
        return ProtoField(2, .message(ProtoMessage(fields: fields)))
    }

    static let bytes: [UInt8] = {
        let entry = ProtoMessage(fields: [
            Self.text(1, "LabelsEntry"), Self.field(1, "key", 9), Self.field(2, "value", 5),
            ProtoField(7, .message(ProtoMessage(fields: [ProtoField(7, .varint(1))]))),
        ])
        let pet = ProtoMessage(fields: [
            Self.text(1, "Pet"), Self.field(1, "name", 9), Self.field(2, "photo", 12), Self.field(3, "kind", 14, of: ".pets.v1.Kind"),
            Self.field(4, "good", 8), Self.field(5, "delta", 17), Self.field(6, "weight", 1), Self.field(7, "ids", 3, label: 3),
            Self.field(8, "labels", 11, label: 3, of: ".pets.v1.Pet.LabelsEntry"), Self.field(10, "parent", 11, of: ".pets.v1.Pet"),
            Self.field(11, "password", 9), ProtoField(3, .message(entry)),
        ])
        let kind = ProtoMessage(fields: [
            Self.text(1, "Kind"), ProtoField(2, .message(ProtoMessage(fields: [Self.text(1, "CAT"), ProtoField(2, .varint(0))]))),
            ProtoField(2, .message(ProtoMessage(fields: [Self.text(1, "DOG"), ProtoField(2, .varint(1))]))),
        ])
        let method = ProtoMessage(fields: [Self.text(1, "Get"), Self.text(2, ".pets.v1.Pet"), Self.text(3, ".pets.v1.Pet")])
        let service = ProtoMessage(fields: [Self.text(1, "Pets"), ProtoField(2, .message(method))])
        let file = ProtoMessage(fields: [
            Self.text(1, "pets.proto"), Self.text(2, "pets.v1"), ProtoField(4, .message(pet)), ProtoField(5, .message(kind)),
            ProtoField(6, .message(service)), Self.text(12, "proto3"),
        ])
        return ProtoMessage(fields: [ProtoField(1, .message(file))]).bytes
    }()
}
