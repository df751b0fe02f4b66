@testable internal import TapeExchange
internal import Testing

@Suite struct ASCIITests {
    @Test func tokenBytesAreThoseOfTheGrammar() {
        let allowed = Set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
        for byte in UInt8.min...UInt8.max { #expect(ASCII.isToken(byte) == allowed.contains(byte)) }
    }

    @Test func firstControlIsFoundAtEveryPlaceInAWord() {
        for byte in UInt8.min...UInt8.max {
            let isStop = (byte < 32 || byte == 127) && byte != 9
            for length in [1, 7, 8, 9, 20] {
                for place in 0..<length {
                    for filler in [UInt8(ascii: "a"), 0x80, 0xFF, 0x20, 9, 0x7E] {
                        var bytes = [UInt8](repeating: filler, count: length)
                        bytes[place] = byte
                        let found = bytes.withUnsafeBytes { ASCII.firstControl(in: $0, from: 0, to: length) }
                        guard found == (isStop ? place : length) else {
                            Issue.record("byte \(byte) at \(place) of \(length): \(found)")
                            return
                        }
                    }
                }
            }
        }
    }

    @Test func firstControlStopsAtItsEnd() {
        let bytes = Array("aaaa\raaaaaaaaaaaa".utf8)
        bytes.withUnsafeBytes {
            #expect(ASCII.firstControl(in: $0, from: 0, to: 4) == 4)
            #expect(ASCII.firstControl(in: $0, from: 5, to: 17) == 17)
            #expect(ASCII.firstControl(in: $0, from: 17, to: 17) == 17)
        }
    }

    @Test func hexDigitsAreReadInBothCases() {
        let digits = Array("0123456789abcdef".utf8)
        for byte in UInt8.min...UInt8.max {
            #expect(ASCII.hexDigit(byte) == digits.firstIndex(of: ASCII.lower(byte)).map { UInt8($0) })
        }
    }

    @Test func quotedTextIsShortAndPrintable() {
        #expect(ASCII.quoted(Array("a\"\\ \r\u{FC}".utf8)) == "\"a\\\"\\\\ \\x0D\\xC3\\xBC\"")
        #expect(ASCII.quoted([UInt8](repeating: 97, count: 49)) == "\"" + String(repeating: "a", count: 48) + "\"…")
    }
}

@Suite struct FieldListTests {
    @Test func elementsAreTrimmedAndEmptyOnesLeftOut() {
        for (text, elements) in [("a", ["a"]), (" a ,\tb,,c ", ["a", "b", "c"]), ("", []), (",, ,", []), ("a b,c", ["a b", "c"])] {
            #expect(FieldList(Array(text.utf8)[...]).map { String(decoding: $0, as: UTF8.self) } == elements)
        }
    }

    @Test func comparisonIgnoresCase() {
        #expect(FieldList.equals(Array("Keep-ALIVE".utf8)[...], "keep-alive"))
        #expect(!FieldList.equals(Array("keep-alivE2".utf8)[...], "keep-alive"))
        #expect(!FieldList.equals(Array("keep\rAlive".utf8)[...], "keep-alive"))
    }
}
