import CassetteModel
import Testing

@testable import CassetteRedaction

/// Places from API documentation: how many secrets remain, and how many other values are redacted.
@Suite struct LabelledPlacesTests {
    private struct Line {
        var kind: String
        var api: String
        var text = ""
        var secrets: [String] = []
        var others: [String] = []
    }

    private static func lines() -> [Line] {
        LabelledPlaces.lines.split(separator: "\n").map { line in
            let fields = line.split(separator: "\t", maxSplits: 2).map(String.init)
            var found = Line(kind: fields[0], api: fields[1])
            var label = ""
            var isIn = false
            for character in fields[2].replacing("\\n", with: "\n") {
                switch character {
                case "«", "‹": (label, isIn) = ("", true)
                case "»":
                    found.secrets.append(label)
                    isIn = false
                case "›":
                    found.others.append(label)
                    isIn = false
                default:
                    found.text.append(character)
                    if isIn { label.append(character) }
                }
            }
            return found
        }
    }

    private static let types = [
        "json": "application/json", "form": "application/x-www-form-urlencoded", "xml": "application/xml", "html": "text/html",
        "yaml": "application/yaml", "text": "text/plain",
    ]

    private static func redacted(_ line: Line) -> String {
        switch line.kind {
        case "url": RedactionFixtures.url(line.text)
        case "header", "cookie", "setcookie": RedactionFixtures.lines([line.text]).joined()
        default: RedactionFixtures.body(line.text, type: Self.types[line.kind] ?? "")
        }
    }

    @Test func noSecretIsLeftAndFewOthersAreTaken() {
        var (secrets, others) = (0, 0)
        var (misses, alarms): ([String], [String]) = ([], [])
        for line in Self.lines() {
            let redacted = Self.redacted(line)
            secrets += line.secrets.count
            others += line.others.count
            misses += line.secrets.filter(redacted.contains).map { "\(line.api): \($0)" }
            alarms += line.others.filter { !redacted.contains($0) }.map { "\(line.api): \($0)" }
        }
        #expect(secrets >= 100 && secrets + others >= 300)
        #expect(misses.isEmpty, "\(misses.count) of \(secrets): \(misses)")
        #expect(alarms.count * 100 <= others, "\(alarms.count) of \(others): \(alarms)")
    }
}
