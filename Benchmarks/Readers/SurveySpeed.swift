internal import CassetteFormat
internal import CassetteModel
internal import CassetteRedaction

/// What the search for secrets costs in a body that has none, of 64 KiB: all that a recorder does with it before the disk.
enum SurveySpeed {
    private static let size = 64 << 10
    private static let count = 64

    static func marks(rounds: Int) -> [Mark] {
        let redactor = Redactor()
        // With a secret known, as most recordings have one.
        let learning = Redactor()
        self.learn(learning)
        let records = (0..<self.count).map { self.records(seed: UInt64($0)) }
        let texts = (0..<self.count).map { self.text(seed: UInt64($0)) }
        let markup = (0..<self.count).map { self.markup(seed: UInt64($0)) }
        return [
            self.mark("secrets searched in JSON of records, MB/s", records, "application/json", redactor, .atLeast(2000), rounds),
            self.mark("the same, with secrets known, MB/s", records, "application/json", learning, .atLeast(0), rounds),
            self.mark("in JSON of long texts, MB/s", texts, "application/json", redactor, .atLeast(2000), rounds),
            self.mark("in HTML, MB/s", markup, "text/html", redactor, .atLeast(0), rounds),
            // Texts made of what begins a place for secrets: the work for each byte has an end.
            self.mark("in flags of commands, MB/s", self.repeated("curl -p x -u y "), "text/plain", redactor, .atLeast(0), rounds),
            self.mark(
                "in names without values, MB/s", self.repeated("<a name=\"password\" [token]= "), "text/plain", redactor, .atLeast(0),
                rounds),
        ]
    }

    private static func mark(
        _ name: String, _ bodies: [[UInt8]], _ type: String, _ redactor: Redactor, _ wanted: Mark.Wanted, _ rounds: Int
    ) -> Mark {
        var rates: [Double] = []
        for _ in 0..<rounds {
            var changed = 0
            let seconds = Stopwatch.seconds {
                for body in bodies { changed += self.search(body, type, redactor) }
            }
            guard changed == 0 else { fatalError("\(changed) secrets were found") }
            rates.append(Double(bodies.reduce(0) { $0 + $1.count }) / seconds / 1e6)
        }
        return Mark(name: name, figure: Stopwatch.median(rates), wanted: wanted)
    }

    private static func search(_ content: [UInt8], _ type: String, _ redactor: Redactor) -> Int {
        var response = RecordedResponse(status: 200, headers: HeaderFields(["Content-Type: \(type)"]))
        var body: WireBody? = WireBody(content)
        return redactor.redact(response: &response, body: &body).count
    }

    private static func learn(_ redactor: Redactor) {
        let text = "{\"access_token\":\"b7f2c09d4e8a41f6a3c5d1e0f9b8a7c6\",\"password\":\"correct horse battery\"}"
        guard self.search(Array(text.utf8), "application/json", redactor) > 0 else { fatalError("no secret was learned") }
    }

    // MARK: Bodies

    /// A list of records with ten members each.
    private static func records(seed: UInt64) -> [UInt8] {
        var noise = Noise(seed: seed)
        var text = "["
        while text.utf8.count < self.size {
            let (a, b) = (noise.next(), noise.next())
            text +=
                "{\"id\":\(a % 1_000_000),\"name\":\"Item \(b % 100_000)\",\"created_at\":\"2026-01-02T03:04:05Z\",\"price\":\(a % 9999).5,"
            text += "\"tags\":[\"new\",\"sale\"],\"owner\":{\"login\":\"user\(b % 977)\",\"type\":\"User\",\"site_admin\":false},"
            text += "\"description\":\"A thing of some use in house and garden\",\"active\":true},"
        }
        return Array((text + "0]").utf8)
    }

    private static func repeated(_ part: String) -> [[UInt8]] {
        Array(repeating: Array(String(repeating: part, count: self.size / part.utf8.count).utf8), count: self.count)
    }

    private static func text(seed: UInt64) -> [UInt8] {
        var noise = Noise(seed: seed)
        var text = "{\"paragraphs\":[\""
        while text.utf8.count < self.size {
            text += self.words[Int(noise.next() % UInt64(self.words.count))]
            text += noise.next() % 200 == 0 ? "\",\"" : " "
        }
        return Array((text + "\"]}").utf8)
    }

    private static func markup(seed: UInt64) -> [UInt8] {
        var noise = Noise(seed: seed)
        var text = "<!doctype html><html><body>"
        while text.utf8.count < self.size {
            let word = self.words[Int(noise.next() % UInt64(self.words.count))]
            text +=
                "<div class=\"row \(word)\"><a href=\"/\(word)/\(noise.next() % 1000)\">\(word)</a><span>\(noise.next() % 100)</span></div>\n"
        }
        return Array((text + "</body></html>").utf8)
    }

    private static let words = [
        "garden", "house", "of", "the", "and", "reading", "token", "monkey", "order", "after", "measure", "in", "a",
    ]
}
