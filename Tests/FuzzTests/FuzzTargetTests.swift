import Foundation
import FuzzTargets
import TapeTestSupport
import Testing

/// A bounded share of `make fuzz`: the same inputs in every run, without libFuzzer.
@Suite struct FuzzTargetTests {
    /// For each target.
    private static let unitCount = 5_000

    // The tests of the rules have seeded lists of their own.
    @Test(arguments: FuzzTargets.all.keys.filter { $0 != "rules" }.sorted()) func targetHoldsForSeededUnits(_ name: String) throws {
        let target = try #require(FuzzTargets.all[name])
        let units = FuzzUnits(seeds: try Self.seeds(of: name), words: try Self.words(), random: 1)
        for unit in units.prefix(Self.unitCount) {
            do {
                try unit.withUnsafeBytes { try target.run($0) }
            } catch {
                Issue.record("\(error), with the unit \(Data(unit).base64EncodedString())")
                return
            }
        }
    }

    /// Inputs that were findings once.
    @Test(arguments: [
        (
            "multipart",
            """
            BmIKcHJlYW1ibGUNCi0tYiANCkNvbnRlbnQtRANiCi0tYg0KQ29udGVudC1UeXBlOiBtdWx0aXBhcnQvbWl4ZWQ7IGJvdW5kYXJ5PWMNCg0KcG5nIi0tYw0KDQp4DXVsdGlw\
            YXJ0L21peGVkOyBib3VuZGFyeT1jDQoNCi0tYw0KLS1iDQotLWMtLQ0KDQptaXhlZGlzcG9zaXRpb24tOiBmb3JtLWRhdGE7IG5hbWU9ImEiOyBnDQoNCi0tOyBib3VuZGFy\
            eWJiDQot
            """
        )
    ]) func formerFindingsHold(_ name: String, _ base64: String) throws {
        let unit = Array(try #require(Data(base64Encoded: base64)))
        try unit.withUnsafeBytes { try FuzzTargets.all[name]?.run($0) }
    }

    @Test func everyTargetHasSeeds() throws {
        for name in FuzzTargets.all.keys { #expect(try !Self.seeds(of: name).isEmpty, "\(name)") }
    }

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../Fuzz")

    /// Written by the program that writes the seeds of `make fuzz`.
    private static let allSeeds = Result { () throws -> [String: [[UInt8]]] in
        let folder = try TemporaryFolder()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", Self.folder.appendingPathComponent("seeds.py").path, folder.path]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw TestProblem("seeds.py ended with \(process.terminationStatus)") }
        var seeds: [String: [[UInt8]]] = [:]
        for name in try folder.names() { seeds[name] = try folder.names(in: name).map { try folder.read("\(name)/\($0)") } }
        return seeds
    }

    private static func seeds(of name: String) throws -> [[UInt8]] { try self.allSeeds.get()[name] ?? [] }

    /// The words of libFuzzer's dictionary: each line has one in quotes, with hexadecimal escapes.
    private static func words() throws -> [[UInt8]] {
        try String(contentsOf: self.folder.appendingPathComponent("fuzz.dict"), encoding: .utf8).split(separator: "\n").compactMap { line in
            guard line.first == "\"", line.last == "\"" else { return nil }
            var word: [UInt8] = []
            var rest = Array(line.utf8)[...].dropFirst().dropLast()
            while let byte = rest.popFirst() {
                guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else {
                    word.append(byte)
                    continue
                }
                guard escape == UInt8(ascii: "x") else {
                    word.append(escape)
                    continue
                }
                word.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
                rest = rest.dropFirst(2)
            }
            return word
        }
    }
}
