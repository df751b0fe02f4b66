import Foundation
import Testing
@testable import CassetteModel
@testable import CassetteStore

/// All interactions of a reader, as text.
func allInteractions(_ reader: CassetteReader) throws -> [String] {
    try (0..<reader.count).map { String(decoding: try reader.bytes(at: $0), as: UTF8.self) }
}

func sampleTexts(_ ids: some Sequence<Int>, size: Int = 60) -> [String] {
    ids.map { String(decoding: SampleCassette.element($0, size: size), as: UTF8.self) }
}

/// Whether an independent parser accepts a file as one JSON document.
func isJSON(_ path: String) -> Bool {
    guard let data = FileManager.default.contents(atPath: path) else { return false }
    return (try? JSONSerialization.jsonObject(with: data)) != nil
}

func cassetteError(_ body: () throws -> Void) -> CassetteError? {
    do {
        try body()
        return nil
    } catch {
        return error as? CassetteError
    }
}
