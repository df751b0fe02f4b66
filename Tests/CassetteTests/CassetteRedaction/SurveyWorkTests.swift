import Testing

@testable import CassetteRedaction

/// Searches visit each byte of a text a few times, whatever the text contains.
@Suite struct SurveyWorkTests {
    /// The average number of times that a survey visits a byte.
    private func work(_ text: String, _ count: (SurveyText, [Int]) -> Int) -> Int {
        Array(text.utf8).withUnsafeBytes { bytes in
            var places: [Int] = []
            SurveyTable.shared.scan(bytes) { anchor, offset in
                switch anchor {
                case .flag: places.append(offset + 1)
                case .option, .name: places.append(offset)
                default: break
                }
            }
            #expect(places.count > 1000)
            return count(SurveyText(bytes: bytes, hasMore: false, isView: false), places) / bytes.count
        }
    }

    @Test(arguments: [" -p", " -u a:b", "curl -u a:b ", "curl -p ", " mysql -ph -px", "\"curl\",\"-u\",", "x --password y ", " login -p x"])
    func commandsAreReadOnce(part: String) {
        let looked = self.work(String(repeating: part, count: 5000)) { text, places in
            var commands = CommandSurvey(text: text)
            for place in places { _ = commands.passwords(flagAt: place) }
            return commands.looked
        }
        #expect(looked <= 3)
    }

    @Test(arguments: [
        "<password ", "<a b=<password ", "<password a='", "<a name=\"password\" ", " name=\"password\"",
        "<input name=\"token\" value=\"x\">", "<a b='\"password\"",
    ])
    func tagsAreReadOnce(part: String) {
        let looked = self.work(String(repeating: part, count: 5000)) { text, places in
            var tags = MarkupTags(text: text)
            for place in places { _ = tags.tag(around: place) }
            return tags.looked
        }
        #expect(looked <= 3)
    }
}
