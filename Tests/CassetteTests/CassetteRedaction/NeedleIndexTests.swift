@testable import CassetteRedaction
@testable import TapeBytes
import Testing

@Suite struct NeedleIndexTests {
    private func found(_ secrets: [String], in text: String, standsAlone: Bool = false) -> [String] {
        var index = NeedleIndex()
        for (number, secret) in secrets.enumerated() { _ = index.insert(Array(secret.utf8), as: number, standsAlone: standsAlone) }
        var hits: [String] = []
        let bytes = Array(text.utf8)
        bytes.withUnsafeBytes { bytes in
            index.search(bytes) { hits.append("\($0.secret)@\($0.range.lowerBound)-\($0.range.upperBound)") }
        }
        return hits.sorted()
    }

    @Test func findsShortAndLongOnesAtAnyOffset() {
        for lead in 0..<20 {
            let text = String(repeating: "-", count: lead) + "abcde1" + "/" + "0123456789abcdefXYZ" + "!"
            let hits = self.found(["abcde1", "0123456789abcdefXYZ"], in: text)
            #expect(hits == ["0@\(lead)-\(lead + 6)", "1@\(lead + 7)-\(lead + 26)"])
        }
    }

    @Test func findsBase64AtEachOfThreeOffsets() {
        for lead in 0..<3 {
            let bytes = Array(repeating: UInt8(ascii: "z"), count: lead) + Array("top-secret-77".utf8) + [33]
            #expect(self.found(["top-secret-77"], in: String(decoding: SecretCorpus.base64(bytes), as: UTF8.self)).count == 1)
        }
    }

    @Test func findsBase64ForURLsToo() {
        let text = String(decoding: SecretCorpus.base64(Array("~~?~~>>??~~?".utf8)), as: UTF8.self)
        let other = text.replacing("+", with: "-").replacing("/", with: "_")
        #expect(other != text)
        #expect(self.found(["~~?~~>>??~~?"], in: other).count == 1)
    }

    @Test func findsAFormsPlusSigns() {
        #expect(self.found(["two words 77"], in: "a=two+words+77&b") == ["0@2-14"])
    }

    @Test func aWordStandsAlone() {
        #expect(self.found(["hunter"], in: "hunter hunters xhunter (hunter)", standsAlone: true) == ["0@0-6", "0@24-30"])
    }

    @Test func aLongOneIsFoundByItsBeginningAndTakenToItsEnd() {
        let secret = (0..<300).map { "k\($0)z" }.joined()
        #expect(self.found([secret], in: "x" + secret + "y") == ["0@1-\(1 + secret.utf8.count)"])
    }

    /// A secret that is a prefix of others, and differs from them in a few bytes: a table cannot distinguish them by a block.
    @Test func secretsThatBeginAlikeAreFoundToTheirEnds() {
        for count in [20, 300] {
            let secrets = (0..<count).map { "abc123" + String(repeating: "7", count: $0) + ($0 % 3 == 0 ? "x" : "") }
            for number in stride(from: 0, to: count, by: 7) {
                let text = "--" + secrets[number] + "--"
                let hits = self.found(secrets, in: text)
                #expect(hits.contains("\(number)@2-\(2 + secrets[number].utf8.count)"), "\(secrets[number]): \(hits)")
                let none = self.found(secrets, in: "--abc12" + secrets[number].dropFirst(6) + "--")
                #expect(none.isEmpty, "\(none)")
            }
        }
    }

    @Test(arguments: 1...12) func aSecretThatAnotherIsWithinIsFoundToItsEnd(more: Int) {
        for length in [6, 9, 16, 40] {
            let short = String("k3Xq9-ZpW7mL2vB8nT4rY6sD1fG5hJ0aQeUiOpCx".prefix(length))
            let tail = "!#$&(*+.:;=?".prefix(more)
            for (secret, lead) in [(short + tail, 0), ("<" + short + tail, 0), ("<" + short + tail, 3), (short + tail, 5)] {
                let text = String(repeating: " ", count: lead) + secret + " "
                let hits = self.found([short, secret], in: text)
                #expect(hits.contains("1@\(lead)-\(lead + secret.utf8.count)"), "\(text): \(hits)")
            }
        }
    }

    /// Every position in the text is one of a needle.
    @Test func aTextOfEqualLettersHasNoMoreHitsThanLetters() {
        let secrets = (3..<40).map { String(repeating: "a1", count: $0) }
        #expect(self.found(secrets, in: String(repeating: "a1", count: 2000)).count <= 4000)
    }

    @Test func manySecretsWithOneBeginningAreReported() {
        let secrets = (0..<500).map { "eyJhbGciOiJIUzI1NiJ9.\(10_000 + $0)" }
        for number in stride(from: 0, to: 500, by: 77) { #expect(self.found(secrets, in: "    " + secrets[number]) == ["\(number)@4-30"]) }
    }

    /// A rejected word hides neither a shorter one, nor one with the same beginning that continues like the text.
    @Test func ofSecretsThatBeginAlikeTheLongestThatCountsIsFound() {
        var index = NeedleIndex()
        let sevens = String(repeating: "7", count: 40)
        for number in 0..<40 { _ = index.insert(Array("abc123\(sevens.prefix(number))".utf8), as: number, standsAlone: number % 2 == 1) }
        var hits: [String] = []
        Array("abc123777 abc1237777 abc123\(sevens)".utf8).withUnsafeBytes { text in
            index.search(text) { hits.append("\($0.secret)@\($0.range.lowerBound)-\($0.range.upperBound)") }
        }
        #expect(Set(["3@0-9", "4@10-20", "38@21-65"]).isSubset(of: hits), "\(hits)")
        let long = (0..<30).map { Array((String(repeating: "7", count: 2000) + "end-\($0)").utf8) }
        index = NeedleIndex()
        for (number, secret) in long.enumerated() { _ = index.insert(secret, as: number, standsAlone: false) }
        var ends: Set<Int> = []
        long[17].withUnsafeBytes { text in index.search(text) { if $0.range.lowerBound == 0 { ends.insert($0.range.upperBound) } } }
        #expect(ends.contains(long[17].count))
    }

    /// Counts comparisons instead of time.
    @Test func aCrowdOfSecretsCostsLittleMoreThanAFewAtEachPlace() {
        func looks(_ count: Int) -> Int {
            var crowd = NeedleCrowd()
            let needles = (0..<count).map { Array(("abc123" + String(repeating: "7", count: $0)).utf8) }
            func needle(_ number: Int32) -> Needle {
                // `needles` below keeps the bytes alive during the search.
                Needle(.plain, of: needles[Int(number)].withUnsafeBytes { $0 })
            }
            return withExtendedLifetime(needles) {
                for (number, needle) in needles.enumerated() { needle.withUnsafeBytes { crowd.insert(Int32(number), $0) } }
                crowd.sort(needle)
                var asked = 0
                let text = Array((0..<50).map { "abc123" + String(repeating: "7", count: $0 * count / 50) }.joined(separator: "\n").utf8)
                text.withUnsafeBytes { text in
                    crowd.search(
                        text,
                        needle: {
                            asked += 1
                            return needle($0)
                        }, end: { $1 + needles[Int($0)].count }, found: { _, _ in })
                }
                return asked
            }
        }
        #expect(looks(800) < 3 * looks(50))
    }

    /// Beyond this number, another algorithm searches for secrets.
    @Test func everySpellingOfALateSecretIsFound() {
        var index = NeedleIndex()
        for number in 0..<1100 { _ = index.insert(Array("early-\(number)-abc".utf8), as: number, standsAlone: false) }
        let secret = Array("la~te>?secret\u{7f}-0123".utf8)
        _ = index.insert(secret, as: 1100, standsAlone: false)
        let hex = Hex.encode(secret)
        var texts = [secret, Array(hex.utf8), Array(hex.uppercased().utf8), NeedleIndex.wide(secret)]
        for lead in 0..<3 {
            let text = SecretCorpus.base64(Array(repeating: 122, count: lead) + secret + [33, 33])
            texts += [text, text.map(Base64Run.urlSafe)]
        }
        for (number, text) in texts.enumerated() {
            for lead in 0..<9 {
                var hits: [Int] = []
                (Array(repeating: UInt8(ascii: "-"), count: lead) + text + Array("--------".utf8)).withUnsafeBytes { bytes in
                    index.search(bytes) { hits.append($0.secret) }
                }
                #expect(hits == [1100], "spelling \(number) after \(lead)")
            }
        }
    }
}

@Suite struct NeedleLayersTests {
    /// More than fit into two layers.
    private static let count = NeedleLayers.sizes[1] + 2 * NeedleLayers.sizes[0] + 7

    private static func secret(_ number: Int) -> [UInt8] { Array("k\(number)-secret value \(number * 7)".utf8) }

    @Test func secretsOfAllLayersAreFoundInTheirSpellings() {
        let vault = SecretVault()
        for number in 0..<Self.count { _ = vault.placeholder(for: Self.secret(number), kind: "k") }
        let known = vault.known()
        for number in Array(stride(from: 0, to: Self.count, by: 997)) + [Self.count - 1] {
            let secret = Self.secret(number)
            let form = secret.map { $0 == 32 ? UInt8(ascii: "+") : $0 }
            for text in [secret, form, Array(Hex.encode(secret).utf8), SecretCorpus.base64(secret + [33, 33])] {
                var hits: [Int] = []
                text.withUnsafeBytes { bytes in known?.index.search(bytes) { hits.append($0.secret) } }
                #expect(hits == [number])
            }
            #expect(known?.placeholders[number].number == number + 1)
            #expect(vault.placeholder(for: secret, kind: "other").number == number + 1, "it is known already")
        }
        #expect(vault.count == Self.count)
    }

    @Test func learningCopiesOnlyTheYoungestLayer() throws {
        let vault = SecretVault()
        for number in 0..<Self.count { _ = vault.placeholder(for: Self.secret(number), kind: "k") }
        let (before, copy) = (try #require(vault.known()), SecretVault(copying: vault))
        _ = vault.placeholder(for: Self.secret(Self.count), kind: "k")
        _ = copy.placeholder(for: Self.secret(Self.count + 1), kind: "k")
        let held = Self.memory(of: before)
        #expect(held.count == 3 && !held.contains(nil))
        for known in [vault.known(), copy.known()] {
            let now = Self.memory(of: try #require(known))
            #expect(now[0] != held[0] && now.dropFirst().elementsEqual(held.dropFirst()))
        }
        // Each keeps the secrets that it learned itself.
        for (known, number) in [(before, 0), (vault.known(), 1), (copy.known(), 1)] {
            #expect(known?.placeholders.count == Self.count + number)
        }
    }

    /// The address of each layer's texts.
    private static func memory(of known: KnownSecrets) -> [UnsafeRawPointer?] {
        known.index.layers.map { layer in layer.texts.withUnsafeBytes { $0.baseAddress } }
    }
}

@Suite struct SecretListTests {
    @Test func numbersFollowOneAnotherThroughAllLayers() {
        var list = SecretList()
        let count = NeedleLayers.sizes[1] + 2 * NeedleLayers.sizes[0] + 3
        for number in 0..<count { #expect(list.append(Array("string \(number)".utf8)) == number) }
        #expect(list.count == count && list.layers.allSatisfy { $0.count > 0 })
        for number in Array(stride(from: 0, to: count, by: 101)) + [count - 1] {
            #expect(list.number(of: Array("string \(number)".utf8)) == number)
        }
        #expect(list.number(of: Array("string".utf8)) == nil)
        var other = list
        _ = other.append([1])
        let places = [list, other].map { $0.layers.map { layer in layer.bytes.withUnsafeBytes { $0.baseAddress } } }
        #expect(places[0].dropLast().elementsEqual(places[1].dropLast()) && places[0].last != places[1].last)
    }
}

@Suite struct NeedleTableTests {
    @Test func needlesWhoseBlocksAreThoseOfManyOthersAreRefused() {
        var table = NeedleTable(window: 16, block: 8)
        let needles = (0..<500).map { Array("eyJhbGciOiJIUzI1NiJ9.\(10_000 + $0)".utf8) }
        let isEntered = needles.enumerated().map { number, needle in needle.withUnsafeBytes { table.insert(Int32(number), $0) } }
        #expect(isEntered[..<10].allSatisfy { $0 } && !isEntered[499])
        var asked = 0
        needles[77].withUnsafeBytes { bytes in
            table.search(
                bytes, length: { needles[Int($0)].count },
                end: { _, _ in
                    asked += 1
                    return nil
                }, found: { _, _ in })
        }
        #expect(asked < 9 * 17)
    }

    @Test func nothingIsAskedForTextWithoutBlocks() {
        var table = NeedleTable(window: 6, block: 4)
        Array("abcdef".utf8).withUnsafeBytes { _ = table.insert(0, $0) }
        Array("nothing of the kind".utf8).withUnsafeBytes { bytes in
            table.search(
                bytes, length: { _ in 6 },
                end: { _, _ in
                    Issue.record("asked")
                    return nil
                }, found: { _, _ in })
        }
        #expect(!table.isEmpty)
    }
}
