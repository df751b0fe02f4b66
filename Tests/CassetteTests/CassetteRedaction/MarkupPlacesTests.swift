import Testing

@testable import CassetteRedaction

/// Secrets in elements and attributes of XML and HTML, and texts next to them that stay.
@Suite struct MarkupPlacesTests {
    @Test(arguments: [
        ("application/xml", "<a><password>h7nter2Xq</password ></a>"),
        ("application/xml", "<a><password a=\"b\">h7nter2Xq</password\n></a>"),
        ("application/xml", "<a><password>h7nter2Xq</password\t></a>"),
        ("application/xml", "<a><w:password>h7nter2Xq</w:password ></a>"),
        ("application/xml", "<a><password >h7nter2Xq</password></a>"),
        ("application/xml", "<a><password value=\"h7nter2Xq\"/></a>"),
        ("application/xml", "<a><password value='h7nter2Xq'></password></a>"),
        ("application/xml", "<a><password type=\"x\" value=\"h7nter2Xq\"/></a>"),
        ("application/xml", "<a><ns:password ns:value = \"h7nter2Xq\" /></a>"),
        ("application/xml", "<a><password\n  val=\"h7nter2Xq\"/></a>"),
        ("application/xml", "<map><entry key=\"password\">h7nter2Xq</entry></map>"),
        ("application/xml", "<map><entry key='password'><![CDATA[h7nter2Xq]]></entry></map>"),
        ("application/xml", "<map><entry lang=\"x\" key=\"db.password\">h7nter2Xq</entry></map>"),
        ("application/xml", "<appSettings><add key=\"password\" value=\"h7nter2Xq\"/></appSettings>"),
        ("application/xml", "<appSettings><add value=\"h7nter2Xq\" key=\"password\"/></appSettings>"),
        ("application/xml", "<appSettings><add key = 'apiKey' value = 'h7nter2Xq' /></appSettings>"),
        ("application/xml", "<bean><property name=\"password\">h7nter2Xq</property></bean>"),
        ("application/xml", "<bean><property name=\"password\" value=\"h7nter2Xq\"/></bean>"),
        ("application/xml", "<bean><property name=\"password\"><value>h7nter2Xq</value></property></bean>"),
        ("application/xml", "<bean><property name=\"password\"><value type=\"s\">h7nter2Xq</value></property></bean>"),
        ("application/xml", "<bean><property name=\"dataSource.password\" value=\"h7nter2Xq\"/></bean>"),
        ("application/xml", "<string name=\"api_key\">h7nter2Xq</string>"),
        ("application/xml", "<setting name=\"Password\" serializeAs=\"String\"><value>h7nter2Xq</value></setting>"),
        (
            "application/xml",
            "<methodCall><params><param><value><struct><member><name>password</name><value><string>h7nter2Xq</string></value></member></struct></value></param></params></methodCall>"
        ),
        ("application/xml", "<member><name>password</name>\n<value>h7nter2Xq</value></member>"),
        ("application/xml", "<member><name>password</name><value><base64>h7nter2Xq</base64></value></member>"),
        ("application/xml", "<member><value><string>h7nter2Xq</string></value><name>password</name></member>"),
        ("application/xml", "<Parameter><Name>password</Name><Value>h7nter2Xq</Value></Parameter>"),
        ("application/xml", "<Attribute Name=\"password\"><AttributeValue>h7nter2Xq</AttributeValue></Attribute>"),
        ("application/xml", "<param name=\"password\" type=\"s\">h7nter2Xq</param>"),
        ("application/xml", "<field id=\"password\">h7nter2Xq</field>"),
        ("text/html", "<html><meta name=\"csrf-token\" content=\"h7nter2Xq\"></html>"),
        ("text/html", "<html><meta content=\"h7nter2Xq\" name=\"csrf-token\" /></html>"),
        ("text/html", "<meta property='access_token' content='h7nter2Xq'>"),
        ("text/html", "<input type=\"hidden\" name=\"authenticity_token\" value=\"h7nter2Xq\" />"),
        ("text/html", "<input type=\"hidden\" value=\"h7nter2Xq\" name=\"csrfmiddlewaretoken\">"),
        ("text/html", "<input name=csrf_token type=hidden value=h7nter2Xq>"),
        ("text/html", "<input type=\"password\" name=\"user[password]\" value=\"h7nter2Xq\">"),
        ("text/html", "<input type='password' id='password' value='h7nter2Xq'>"),
        (
            "text/html",
            "<input type=\"hidden\" id=\"__RequestVerificationToken\" name=\"__RequestVerificationToken\" value=\"h7nter2Xq\" />"
        ),
        ("text/html", "<textarea name=\"private_key\">h7nter2Xq</textarea>"),
        ("text/html", "<div data-password=\"h7nter2Xq\" data-csrf-token='h7nter2Xq'></div>"),
        ("text/html", "<input type=\"password\" name=\"pw\" value=\"h7nter2Xq\">"),
    ])
    func elementsAndAttributes(type: String, text: String) { HiddenPlace.check(text, type: type) }

    @Test(arguments: [
        ("text/html", "<input type=\"password\" name=\"password\" placeholder=\"password1\" value=\"\">"),
        ("text/html", "<meta name=\"viewport\" content=\"width=device-width1\">"),
        ("text/html", "<meta name=\"token\" content=\"tokens of thanks\">"),
        ("text/html", "<label for=\"password\">Password1</label><input type=\"text\" name=\"username\" value=\"ada1lovelace\">"),
        ("text/html", "<button name=\"password\" type=\"submit\">Reset password1</button>"),
        ("text/html", "<a id=\"password\" href=\"/reset\">Forgot 2nd</a>"),
        ("application/xml", "<xs:element name=\"password\" type=\"xs:string1\"/>"),
        ("application/xml", "<field name=\"password\" label=\"Password 1\" required=\"true\"/>"),
        ("application/xml", "<string name=\"password\">Password</string>"),
        ("application/xml", "<string name=\"password_label\">Password1</string>"),
        ("application/xml", "<password minLength=\"8\" maxLength=\"128\"/>"),
        ("text/html", "<html><p>List<Token> and <a href=\"/x\" id=\"password\">Reset 2nd password</a></p></html>"),
    ])
    func textsWithoutASecret(type: String, text: String) { HiddenPlace.stays(text, type: type) }
}
