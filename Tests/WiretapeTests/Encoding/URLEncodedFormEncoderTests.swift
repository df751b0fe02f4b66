import Foundation
import Testing
@testable import Wiretape

/// The options work as Alamofire documents them.
@Suite struct URLEncodedFormEncoderTests {
    private struct Pet: Encodable {
        var name = "초코 & Co"
        var isGood = true
        var photo = Data([0xFB, 0xFF])
        var born = Date(timeIntervalSince1970: 1.5)
        var toys = ["b", "a"]
        var owner: Owner? = Owner()
        var chipNumber: Int?
    }

    private struct Owner: Encodable {
        var firstName = "A"
        var homes = [Home(), Home()]
    }

    private struct Home: Encodable { var zip = 1 }

    private func form(_ encoder: HTTPSession.URLEncodedFormEncoder, _ value: some Encodable) throws -> [String] {
        let text: String = try encoder.encode(value)
        return text.split(separator: "&").map { $0.removingPercentEncoding ?? "" }
    }

    @Test func aWholeObjectWithTheDefaults() throws {
        let text: String = try HTTPSession.URLEncodedFormEncoder().encode(Pet())
        #expect(
            text.split(separator: "&") == [
                "born=-978307198.5", "isGood=1", "name=%EC%B4%88%EC%BD%94%20%26%20Co", "owner%5BfirstName%5D=A",
                "owner%5Bhomes%5D%5B%5D%5Bzip%5D=1", "owner%5Bhomes%5D%5B%5D%5Bzip%5D=1", "photo=%2B/8%3D", "toys%5B%5D=b", "toys%5B%5D=a",
            ])
    }

    @Test func namesAreSortedAndElementsAreNot() throws {
        struct Unsorted: Encodable { let b = 1, a = [3, 1, 2], c = ["z": 1, "y": 2] }
        #expect(try self.form(HTTPSession.URLEncodedFormEncoder(), Unsorted()) == ["a[]=3", "a[]=1", "a[]=2", "b=1", "c[y]=2", "c[z]=1"])
        let unsorted = HTTPSession.URLEncodedFormEncoder(alphabetizeKeyValuePairs: false)
        #expect(try self.form(unsorted, Unsorted()).prefix(4) == ["b=1", "a[]=3", "a[]=1", "a[]=2"])
    }

    private struct List: Encodable { let a = [[1, 2], [3]] }

    @Test(arguments: [
        (HTTPSession.URLEncodedFormEncoder.ArrayEncoding.brackets, ["a[][]=1", "a[][]=2", "a[][]=3"]),
        (.noBrackets, ["a=1", "a=2", "a=3"]),
        (.indexInBrackets, ["a[0][0]=1", "a[0][1]=2", "a[1][0]=3"]), (.custom { "\($0).\($1)" }, ["a.0.0=1", "a.0.1=2", "a.1.0=3"]),
    ]) func lists(encoding: HTTPSession.URLEncodedFormEncoder.ArrayEncoding, expected: [String]) throws {
        #expect(try self.form(HTTPSession.URLEncodedFormEncoder(arrayEncoding: encoding), List()) == expected)
    }

    @Test func boolsAreNumbersOrWords() throws {
        let value = ["a": true, "b": false]
        #expect(try self.form(HTTPSession.URLEncodedFormEncoder(), value) == ["a=1", "b=0"])
        #expect(try self.form(HTTPSession.URLEncodedFormEncoder(boolEncoding: .literal), value) == ["a=true", "b=false"])
    }

    @Test(arguments: [
        (HTTPSession.URLEncodedFormEncoder.DataEncoding.base64, ["d=+/8="]), (.deferredToData, ["d[]=251", "d[]=255"]),
        (.custom { "\($0.count)" }, ["d=2"]),
    ]) func data(encoding: HTTPSession.URLEncodedFormEncoder.DataEncoding, expected: [String]) throws {
        #expect(try self.form(HTTPSession.URLEncodedFormEncoder(dataEncoding: encoding), ["d": Data([0xFB, 0xFF])]) == expected)
    }

    @Test func dates() throws {
        let formatter = DateFormatter()
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy/MM/dd"
        let table: [(HTTPSession.URLEncodedFormEncoder.DateEncoding, String)] = [
            (.deferredToDate, "d=-978307199.0"), (.secondsSince1970, "d=1.0"), (.millisecondsSince1970, "d=1000.0"),
            (.iso8601, "d=1970-01-01T00:00:01Z"), (.formatted(formatter), "d=1970/01/01"),
            (.custom { "\(Int($0.timeIntervalSince1970))s" }, "d=1s"),
        ]
        for (encoding, expected) in table {
            #expect(
                try self.form(HTTPSession.URLEncodedFormEncoder(dateEncoding: encoding), ["d": Date(timeIntervalSince1970: 1)]) == [
                    expected
                ])
        }
    }

    private struct Optionals: Encodable {
        var a: Int?
        var b: String? = nil
        var c: [Int?] = [1, nil]
        var d: [String: Int?] = ["x": nil]
        var e = 1
    }

    @Test(arguments: [
        (HTTPSession.URLEncodedFormEncoder.NilEncoding.dropKey, ["c[]=1", "e=1"]),
        (.dropValue, ["a=", "b=", "c[]=1", "c[]=", "d[x]=", "e=1"]),
        (.null, ["a=null", "b=null", "c[]=1", "c[]=null", "d[x]=null", "e=1"]),
        (.custom { "-" }, ["a=-", "b=-", "c[]=1", "c[]=-", "d[x]=-", "e=1"]),
    ]) func optionals(encoding: HTTPSession.URLEncodedFormEncoder.NilEncoding, expected: [String]) throws {
        #expect(try self.form(HTTPSession.URLEncodedFormEncoder(nilEncoding: encoding), Optionals()) == expected)
    }

    private struct Keys: Encodable { let oneTwoThree = ["fourFive": 1] }

    @Test(arguments: [
        (HTTPSession.URLEncodedFormEncoder.KeyEncoding.useDefaultKeys, "oneTwoThree[fourFive]=1"),
        (.convertToSnakeCase, "one_two_three[four_five]=1"),
        (.convertToKebabCase, "one-two-three[four-five]=1"), (.capitalized, "OneTwoThree[FourFive]=1"),
        (.uppercased, "ONETWOTHREE[FOURFIVE]=1"),
        (.lowercased, "onetwothree[fourfive]=1"), (.custom { "\($0)!" }, "oneTwoThree![fourFive!]=1"),
    ]) func names(encoding: HTTPSession.URLEncodedFormEncoder.KeyEncoding, expected: String) throws {
        #expect(try self.form(HTTPSession.URLEncodedFormEncoder(keyEncoding: encoding), Keys()) == [expected])
    }

    @Test(arguments: [
        (HTTPSession.URLEncodedFormEncoder.KeyPathEncoding.brackets, "a[b][c]=1"), (.dots, "a.b.c=1"), (.custom { "-\($0)" }, "a-b-c=1"),
    ]) func namesWithinNames(encoding: HTTPSession.URLEncodedFormEncoder.KeyPathEncoding, expected: String) throws {
        #expect(try self.form(HTTPSession.URLEncodedFormEncoder(keyPathEncoding: encoding), ["a": ["b": ["c": 1]]]) == [expected])
    }

    @Test func spacesAndPlusSigns() throws {
        let value = ["a b": "c d+e"]
        #expect(try HTTPSession.URLEncodedFormEncoder().encode(value) == "a%20b=c%20d%2Be")
        #expect(try HTTPSession.URLEncodedFormEncoder(spaceEncoding: .plusReplaced).encode(value) == "a+b=c+d%2Be")
    }

    @Test func allowedCharactersCanBeChosen() throws {
        let all = ["k": "-._~/?:@!$&'()*+,;=%#[] \"<>\\^`{|}한"]
        #expect(
            try HTTPSession.URLEncodedFormEncoder().encode(all)
                == "k=-._~/?%3A%40%21%24%26%27%28%29%2A%2B%2C%3B%3D%25%23%5B%5D%20%22%3C%3E%5C%5E%60%7B%7C%7D%ED%95%9C")
        #expect(
            try HTTPSession.URLEncodedFormEncoder(allowedCharacters: CharacterSet(charactersIn: "k=")).encode(["k": "a=k한"])
                == "k=%61=k%ED%95%9C")
    }

    @Test func theSameAsUTF8() throws {
        let data: Data = try HTTPSession.URLEncodedFormEncoder().encode(["a": 1])
        #expect(data == Data("a=1".utf8))
    }

    @Test func onlyObjectsHaveNames() throws {
        for encode in [{ try HTTPSession.URLEncodedFormEncoder().encode([1]) }, { try HTTPSession.URLEncodedFormEncoder().encode("a") }]
            as [() throws -> String]
        {
            #expect { try encode() } throws: { ($0 as? ParameterEncodingError)?.code == .notAnObject }
        }
        #expect(try HTTPSession.URLEncodedFormEncoder().encode([String: Int]()) == "")
    }

    @Test func errorOfAClosureIsPassedOn() throws {
        struct Own: Error {}
        let encoder = HTTPSession.URLEncodedFormEncoder(dateEncoding: .custom { _ in throw Own() })
        #expect { let _: String = try encoder.encode(["d": Date()]) } throws: {
            guard let error = $0 as? ParameterEncodingError else { return false }
            return error.code == .notEncodable && error.cause is Own
        }
    }
}

@Suite struct BoolEncodingTests {
    @Test func bothValuesOfBothEncodings() {
        #expect([true, false].map(HTTPSession.URLEncodedFormEncoder.BoolEncoding.numeric.encode) == ["1", "0"])
        #expect([true, false].map(HTTPSession.URLEncodedFormEncoder.BoolEncoding.literal.encode) == ["true", "false"])
    }
}

@Suite struct DataEncodingTests {
    @Test func dataIsTextOrLeftToItself() throws {
        #expect(try HTTPSession.URLEncodedFormEncoder.DataEncoding.base64.encode(Data([1])) == "AQ==")
        #expect(try HTTPSession.URLEncodedFormEncoder.DataEncoding.deferredToData.encode(Data([1])) == nil)
        #expect(try HTTPSession.URLEncodedFormEncoder.DataEncoding.custom { "\($0.count)" }.encode(Data([1])) == "1")
    }
}

@Suite struct DateEncodingTests {
    @Test func partsOfASecondAreKeptOrLeftOut() throws {
        let date = Date(timeIntervalSince1970: 1_000_000_000.25)
        #expect(try HTTPSession.URLEncodedFormEncoder.DateEncoding.secondsSince1970.encode(date) == "1000000000.25")
        #expect(try HTTPSession.URLEncodedFormEncoder.DateEncoding.millisecondsSince1970.encode(date) == "1000000000250.0")
        #expect(try HTTPSession.URLEncodedFormEncoder.DateEncoding.iso8601.encode(date) == "2001-09-09T01:46:40Z")
        #expect(try HTTPSession.URLEncodedFormEncoder.DateEncoding.deferredToDate.encode(date) == nil)
    }
}

@Suite struct KeyEncodingTests {
    @Test(arguments: [
        ("oneTwoThree", "one_two_three"), ("myURLProperty", "my_url_property"), ("URLPath", "url_path"), ("URL", "url"), ("a", "a"),
        ("", ""),
        ("page2Size", "page2_size"), ("a_B", "a_b"), ("_privateKey", "_private_key"), ("Ünicode한Key", "ünicode한_key"),
    ]) func wordsBeginWithUpperCase(key: String, expected: String) {
        #expect(HTTPSession.URLEncodedFormEncoder.KeyEncoding.convertToSnakeCase.encode(key) == expected)
        let kebab = HTTPSession.URLEncodedFormEncoder.KeyEncoding.convertToKebabCase.encode(key.filter { $0 != "_" })
        #expect(!kebab.contains("_") && kebab == kebab.lowercased())
    }

    @Test func anEmptyKeyStaysEmpty() {
        for encoding in [HTTPSession.URLEncodedFormEncoder.KeyEncoding.capitalized, .uppercased, .lowercased, .convertToKebabCase] {
            #expect(encoding.encode("") == "")
        }
    }
}

@Suite struct KeyPathEncodingTests {
    @Test func aChildFollowsItsParent() {
        #expect(HTTPSession.URLEncodedFormEncoder.KeyPathEncoding.brackets.encode("c") == "[c]")
        #expect(HTTPSession.URLEncodedFormEncoder.KeyPathEncoding.dots.encode("c") == ".c")
        #expect(HTTPSession.URLEncodedFormEncoder.KeyPathEncoding.custom { "->\($0)" }.encode("c") == "->c")
    }
}

@Suite struct NilEncodingTests {
    @Test func nothingIsLeftOutOrWritten() {
        #expect(HTTPSession.URLEncodedFormEncoder.NilEncoding.dropKey.encode() == nil)
        #expect(HTTPSession.URLEncodedFormEncoder.NilEncoding.dropValue.encode() == "")
        #expect(HTTPSession.URLEncodedFormEncoder.NilEncoding.null.encode() == "null")
        #expect(HTTPSession.URLEncodedFormEncoder.NilEncoding.custom { "0" }.encode() == "0")
    }
}

@Suite struct ArrayEncodingTests {
    @Test func elementsAreNamedAfterTheirList() {
        #expect(HTTPSession.URLEncodedFormEncoder.ArrayEncoding.brackets.encode("a", atIndex: 2) == "a[]")
        #expect(HTTPSession.URLEncodedFormEncoder.ArrayEncoding.noBrackets.encode("a", atIndex: 2) == "a")
        #expect(HTTPSession.URLEncodedFormEncoder.ArrayEncoding.indexInBrackets.encode("a", atIndex: 2) == "a[2]")
        #expect(HTTPSession.URLEncodedFormEncoder.ArrayEncoding.custom { "\($0)\($1)" }.encode("a", atIndex: 2) == "a2")
    }
}
