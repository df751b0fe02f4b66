@testable import TapeBytes
import Testing

@Suite struct PatternProgramTests {
    @Test func edgesAreNoticed() throws {
        for (text, wanted) in [("a", false), ("^a", true), ("a$", true), (#"(a|\b)"#, true), (#"\$"#, false)] {
            #expect(PatternProgram(try PatternParser.parse(text)).hasEdges == wanted)
        }
    }

    @Test func aProgramEndsInItsOnlyMatch() throws {
        let program = PatternProgram(try PatternParser.parse("(a|b)*c{2,3}|d"))
        #expect(program.instructions.last == .match)
        #expect(program.instructions.filter { $0 == .match }.count == 1)
    }
}

@Suite struct PatternAlphabetTests {
    private static let letters = PatternCharacters(["a"..."z", "é"..."é"])

    private func read(_ bytes: [UInt8], at index: Int = 0, _ alphabet: PatternAlphabet) -> (class: Int, length: Int) {
        bytes.withUnsafeBytes { alphabet.character(in: $0, at: index) }
    }

    @Test func charactersOfTheSameSetsShareAClass() {
        let alphabet = PatternAlphabet([Self.letters])
        // The letters of the set that are word characters, é, the other word characters, and the rest.
        #expect(alphabet.count == 4)
        #expect(self.read(Array("a".utf8), alphabet).class == self.read(Array("q".utf8), alphabet).class)
        #expect(self.read(Array("a".utf8), alphabet).class != self.read(Array("é".utf8), alphabet).class)
        #expect(alphabet.has(self.read(Array("é".utf8), alphabet).class, in: 0))
        #expect(!alphabet.has(self.read(Array("è".utf8), alphabet).class, in: 0))
        #expect(alphabet.neighbour(self.read(Array("a".utf8), alphabet).class) == .wordCharacter)
        #expect(alphabet.neighbour(self.read(Array("é".utf8), alphabet).class) == .otherCharacter)
    }

    @Test(
        arguments: [
            ([0x41], 1), ([0xC3, 0xA9], 2), ([0xE2, 0x82, 0xAC], 3), ([0xF0, 0x9D, 0x84, 0x9E], 4), ([0xC3], 1), ([0xC3, 0x41], 1),
            ([0xC0, 0x80], 1),
            ([0xED, 0xA0, 0x80], 1), ([0xF4, 0x90, 0x80, 0x80], 1), ([0x80], 1), ([0xFF, 0xFF], 1), ([0xE2, 0x82], 1),
            ([0xC3, 0xA9, 0xA9], 2),
        ] as [([UInt8], Int)])
    func aCharacterIsReadWholeOrAsOneByte(bytes: [UInt8], length: Int) {
        let everything = PatternCharacters(["\u{0}"..."\u{10FFFF}"])
        let alphabet = PatternAlphabet([everything])
        let character = self.read(bytes, alphabet)
        #expect(character.length == length)
        #expect(alphabet.has(character.class, in: 0) == (length > 1 || bytes[0] < 0x80))
    }

    @Test func setsBeyondASCIIAreKnown() {
        let alphabet = PatternAlphabet([Self.letters, .digits, .digits.inverted])
        #expect([0, 1, 2].map(alphabet.reachesBeyondASCII) == [true, false, true])
        #expect(alphabet.ascii(0x71) == self.read(Array("q".utf8), alphabet).class)
    }

    @Test func precedingCharacterIsClassifiedByItsByte() {
        let neighbour = { (index: Int) in Array("a-é".utf8).withUnsafeBytes { PatternAlphabet.neighbour(in: $0, before: index) } }
        #expect((0...4).map(neighbour) == [.nothing, .wordCharacter, .otherCharacter, .otherCharacter, .otherCharacter])
    }
}

@Suite struct PatternCompilerTests {
    private func instructions(_ text: String) throws -> [PatternInstruction] {
        var compiler = PatternCompiler()
        compiler.add(try PatternParser.parse(text))
        return compiler.instructions
    }

    @Test func eachConstructHasItsInstructions() throws {
        #expect(try self.instructions("aba") == [.take(0), .take(1), .take(0)])
        #expect(try self.instructions("a|b|c") == [.split(1, 3), .take(0), .jump(7), .split(4, 6), .take(1), .jump(7), .take(2)])
        #expect(try self.instructions("a*") == [.split(1, 3), .take(0), .jump(0)])
        #expect(try self.instructions("a+") == [.take(0), .split(0, 2)])
        #expect(try self.instructions("a{2,}") == [.take(0), .take(0), .split(1, 3)])
        #expect(try self.instructions("a{1,3}") == [.take(0), .split(2, 5), .take(0), .split(4, 5), .take(0)])
        #expect(try self.instructions("^$") == [.require(.start), .require(.end)])
    }
}
